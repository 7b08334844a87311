//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import NIOConcurrencyHelpers
import Synchronization
import ThreadSafeValue

extension Contest {
    /// Reading a shared number.
    package static let reads = Contest(
        name: "read",
        contestants: [
            Contestant("Protected.read", isOurs: true) { _ in
                let value = Protected(1)
                return Round {
                    var sum = 0
                    for _ in 0..<$0 { sum &+= value.read { $0 } }
                    use(sum)
                }
            },
            Contestant("@Protected count", isOurs: true) { _ in
                let state = State()
                return Round {
                    var sum = 0
                    for _ in 0..<$0 { sum &+= state.count }
                    use(sum)
                }
            },
            Contestant("wait.get()", isOurs: true) { _ in
                let value = QueueSafeValue(value: 1)
                return Round {
                    var sum = 0
                    for _ in 0..<$0 {
                        if case .success(let number) = value.wait.highestPriority.get() { sum &+= number }
                    }
                    use(sum)
                }
            },
            Contestant("wait.map { }", isOurs: true) { _ in
                let value = QueueSafeValue(value: 1)
                return Round {
                    var sum = 0
                    for _ in 0..<$0 {
                        let result = value.wait.highestPriority.map { $0 &+ 1 }
                        if case .success(let number) = result { sum &+= number }
                    }
                    use(sum)
                }
            },
            Contestant("Mutex") { _ in
                let box = MutexBox()
                return Round {
                    var sum = 0
                    for _ in 0..<$0 { sum &+= box.value.withLock { $0 } }
                    use(sum)
                }
            },
            Contestant("NIOLockedValueBox") { _ in
                let value = NIOLockedValueBox(1)
                return Round {
                    var sum = 0
                    for _ in 0..<$0 { sum &+= value.withLockedValue { $0 } }
                    use(sum)
                }
            },
            Contestant("NSLock") { _ in
                let value = NSLockBox(1)
                return Round {
                    var sum = 0
                    for _ in 0..<$0 { sum &+= value.withLock { $0 } }
                    use(sum)
                }
            },
            Contestant("DispatchQueue.sync") { _ in
                let box = QueueBox()
                return Round {
                    var sum = 0
                    for _ in 0..<$0 { sum &+= box.queue.sync { box.value } }
                    use(sum)
                }
            },
            Contestant("actor", batch: 100_000) { setting in
                let value = ActorBox()
                return Round { operations in
                    wait(in: setting) {
                        var sum = 0
                        for _ in 0..<operations { sum &+= await value.value }
                        use(sum)
                    }
                }
            },
        ],
        settings: [.alone, .pair, .crowd]
    )
}
