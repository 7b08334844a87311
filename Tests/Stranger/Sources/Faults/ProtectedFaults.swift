//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import ThreadSafeValue

let protectedFaults = [
    Fault("a lost update", says: "both counted: false") { stage, isWrong in
        let count = Protected(0)
        for name in ["a", "b"] {
            stage.thread(name) {
                if isWrong {
                    let old = count.wrappedValue
                    count.wrappedValue = old + 1
                } else {
                    count.wrappedValue += 1
                }
            }
        }
        stage.check("both counted") { count.wrappedValue == 2 }
    },
    Fault("check, then act", says: "loaded once: false") { stage, isWrong in
        let (images, loads) = (Protected<[String: Int]>([:]), Protected(0))
        @Sendable func load() -> Int {
            loads.wrappedValue += 1
            return 42
        }
        for name in ["a", "b"] {
            stage.thread(name) {
                if isWrong {
                    if images["x"] == nil { images["x"] = load() }
                } else {
                    images.write { images in if images["x"] == nil { images["x"] = load() } }
                }
            }
        }
        stage.check("loaded once") { loads.wrappedValue == 1 }
    },
    Fault("a member that is checked before another access", says: "not below zero: false") { stage, isWrong in
        struct Account: Sendable { var balance = 10 }
        let account = Protected(Account())
        for name in ["a", "b"] {
            stage.thread(name) {
                if isWrong {
                    if account.balance >= 10 { account.balance -= 10 }
                } else {
                    account.write { if $0.balance >= 10 { $0.balance -= 10 } }
                }
            }
        }
        stage.check("not below zero") { account.balance >= 0 }
    },
    Fault("a condition that is signalled before the wait", says: "hang: a waits") { stage, isWrong in
        let isRinging = Protected(false)
        let rings = Protected(0)
        stage.thread("a") {
            // A bell that rings for a moment is not heard by those who come later.
            if isWrong { isRinging.wait { $0 } } else { rings.wait { $0 > 0 } }
        }
        stage.thread("b") {
            isRinging.wrappedValue = true
            rings.wrappedValue += 1
            isRinging.wrappedValue = false
        }
    },
    Fault("a time-out that loses an element", says: "nothing is lost: false") { stage, isWrong in
        // Who finds the pool empty leaves a slot, where the next element is put.
        struct Pool: Sendable {
            var free: [Int] = []
            var slot: Int?
            var isAwaited = false
        }
        let (pool, taken) = (Protected(Pool()), Protected<[Int]>([]))
        stage.thread("a") {
            pool.isAwaited = true
            if pool.wait(until: { $0.slot != nil }, timeout: .seconds(1)) || !isWrong {
                let element = pool.write { pool in
                    pool.isAwaited = false
                    return pool.slot.take()
                }
                if let element { taken.append(element) }
            } else {
                // An element may have come since.
                pool.isAwaited = false
            }
        }
        stage.thread("b") {
            pool.write { pool in if pool.isAwaited { pool.slot = 7 } else { pool.free.append(7) } }
        }
        stage.check("nothing is lost") { pool.free + taken.wrappedValue == [7] }
    },
    Fault("a try that gives up where it must not", says: "both counted: false") { stage, isWrong in
        let count = Protected(0)
        for name in ["a", "b"] {
            stage.thread(name) {
                if isWrong {
                    count.tryWrite { $0 += 1 }
                } else {
                    while count.tryWrite({ $0 += 1 }) == nil { count.wait(until: { _ in true }, timeout: .seconds(1)) }
                }
            }
        }
        stage.thread("c") { count.write { count in Protected(0).wrappedValue = count } }
        stage.check("both counted") { count.wrappedValue == 2 }
    },
    Fault("a sum of values that are read one by one", says: "the sum stays: false") { stage, isWrong in
        let (a, b, sum) = (Protected(50), Protected(50), Protected(0))
        // Nested in one order, and not withLocked, whose order is not the same in each run.
        stage.thread("moves") {
            a.write { a in
                b.write { b in
                    a -= 10
                    b += 10
                }
            }
        }
        stage.thread("adds") {
            sum.wrappedValue = isWrong ? a.wrappedValue + b.wrappedValue : a.read { a in b.read { b in a + b } }
        }
        stage.check("the sum stays") { sum.wrappedValue == 100 }
    },
    Fault("a listener that misses a change", says: "the last one is seen: false") { stage, isWrong in
        let (level, seen) = (Protected(1), Protected<[Int]>([]))
        stage.task("listens") {
            if isWrong {
                seen.append(level.wrappedValue)
                for await level in level.changes() where level < 0 { break }
            } else {
                for await level in level.changes(startingWithCurrentValue: true, buffering: .unbounded) {
                    seen.append(level)
                    if level == 2 { break }
                }
            }
        }
        stage.thread("sets") {
            level.wrappedValue = 2
            if isWrong { level.wrappedValue = -1 }
        }
        stage.check("the last one is seen") { seen.wrappedValue.contains(2) }
    },
]
