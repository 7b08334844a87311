//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import NIOConcurrencyHelpers
import Synchronization
import ThreadSafeValue

struct Model: Sendable {
    var count = 0
    var name = ""
}

struct State: Sendable {
    @Protected var count = 0
    @Protected var model = Model()
}

extension Contest {
    /// Adding one to a shared number, and going on when it is done.
    package static let changes = Contest(
        name: "change",
        contestants: [
            Contestant("Protected.write", isOurs: true) { _ in
                let value = Protected(0)
                return Round {
                    for _ in 0..<$0 { value.write { $0 &+= 1 } }
                } changes: {
                    value.read { $0 }
                }
            },
            Contestant("@Protected count += 1", isOurs: true) { _ in
                let state = State()
                return Round {
                    for _ in 0..<$0 { state.count += 1 }
                } changes: {
                    state.count
                }
            },
            Contestant("$model.count += 1", isOurs: true) { _ in
                let state = State()
                return Round {
                    for _ in 0..<$0 { state.$model.count += 1 }
                } changes: {
                    state.model.count
                }
            },
            Contestant("wait.set { }", isOurs: true) { _ in
                let value = QueueSafeValue(value: 0)
                return Round {
                    for _ in 0..<$0 { value.wait.highestPriority.set { $0 &+= 1 } }
                } changes: {
                    value.total
                }
            },
            Contestant("wait.set(newValue:)", isOurs: true) { _ in
                let value = QueueSafeValue(value: 0)
                return Round {
                    for number in 0..<$0 { value.wait.highestPriority.set(newValue: number) }
                }
            },
            Contestant("wait.set { done in }", isOurs: true) { _ in
                let value = QueueSafeValue(value: 0)
                return Round {
                    for _ in 0..<$0 {
                        value.wait.highestPriority.set { number, done in
                            number &+= 1
                            done()
                        }
                    }
                } changes: {
                    value.total
                }
            },
            Contestant("Mutex") { _ in
                let box = MutexBox()
                return Round {
                    for _ in 0..<$0 { box.value.withLock { $0 &+= 1 } }
                } changes: {
                    box.value.withLock { $0 }
                }
            },
            Contestant("NIOLockedValueBox") { _ in
                let value = NIOLockedValueBox(0)
                return Round {
                    for _ in 0..<$0 { value.withLockedValue { $0 &+= 1 } }
                } changes: {
                    value.withLockedValue { $0 }
                }
            },
            Contestant("NSLock") { _ in
                let value = NSLockBox(0)
                return Round {
                    for _ in 0..<$0 { value.withLock { $0 &+= 1 } }
                } changes: {
                    value.withLock { $0 }
                }
            },
            Contestant("DispatchQueue.sync") { _ in
                let box = QueueBox()
                return Round {
                    for _ in 0..<$0 { box.queue.sync { box.value &+= 1 } }
                } changes: {
                    box.queue.sync { box.value }
                }
            },
            Contestant("actor", batch: 100_000) { setting in
                let value = ActorBox()
                return Round { operations in
                    wait(in: setting) {
                        for _ in 0..<operations { await value.add() }
                    }
                }
            },
        ],
        settings: [.alone, .pair, .crowd]
    )
}

extension QueueSafeValue where Value == Int {
    var total: Int {
        guard case .success(let total) = wait.highestPriority.get() else { return -1 }
        return total
    }
}
