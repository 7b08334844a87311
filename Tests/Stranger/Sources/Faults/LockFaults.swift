//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import ThreadSafeValue

/// Guarded by a lock, as the program says.
final class Guarded: @unchecked Sendable {
    let lock = PlatformLock()
    var count = 0
}

let lockFaults = [
    Fault("opposite orders", says: "opposite orders: ") { stage, isWrong in
        let (from, to) = (Protected(50), Protected(50))
        @Sendable func move(_ amount: Int, _ from: Protected<Int>, _ to: Protected<Int>) {
            if isWrong {
                from.write { from in
                    to.wrappedValue += amount
                    from -= amount
                }
            } else {
                withLocked(from, to) { from, to in
                    from -= amount
                    to += amount
                }
            }
        }
        stage.thread("a") { move(10, from, to) }
        stage.thread("b") { move(20, to, from) }
    },
    Fault("a lock that is given back too early", says: "both counted: false") { stage, isWrong in
        let guarded = Guarded()
        for name in ["a", "b"] {
            stage.thread(name) {
                if isWrong {
                    let old = guarded.lock.around { guarded.count }
                    guarded.lock.around { guarded.count = old + 1 }
                } else {
                    guarded.lock.around { guarded.count += 1 }
                }
            }
        }
        stage.check("both counted") { guarded.count == 2 }
    },
    Fault("a lock and a value in opposite orders", says: "opposite orders: ") { stage, isWrong in
        let (guarded, log) = (Guarded(), Protected<[Int]>([]))
        stage.thread("a") { guarded.lock.around { log.append(guarded.count) } }
        stage.thread("b") {
            if isWrong {
                log.write { log in guarded.lock.around { log.append(guarded.count) } }
            } else {
                guarded.lock.around { log.append(guarded.count) }
            }
        }
    },
]
