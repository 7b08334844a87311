//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import ThreadSafeValue

/// Forgets that others come in while it awaits.
actor Loader {
    private let isWrong: Bool
    private var known: [String: Int] = [:]
    private var tasks: Set<String> = []
    var loads = 0

    init(isWrong: Bool) { self.isWrong = isWrong }

    func load(_ key: String) async {
        if known[key] != nil { return }
        if !isWrong, !tasks.insert(key).inserted { return }
        loads += 1
        await Task.yield()
        known[key] = 42
    }
}

let taskFaults = [
    Fault("an actor that others enter while it awaits", says: "loaded once: false") { stage, isWrong in
        let (loader, loads) = (Loader(isWrong: isWrong), Protected(0))
        for name in ["a", "b"] {
            stage.task(name) {
                await loader.load("x")
                loads.wrappedValue = await loader.loads
            }
        }
        stage.check("loaded once") { loads.wrappedValue == 1 }
    },
    Fault("a read that is stale after an await", says: "both are paid: false") { stage, isWrong in
        let (account, log) = (QueueSafeValue(value: 30), QueueSafeValue(value: 0))
        for name in ["a", "b"] {
            stage.task(name) {
                if isWrong {
                    let balance = try await account.async.lowestPriority.get().get()
                    await log.async.lowestPriority.set { $0 += 1 }
                    await account.async.lowestPriority.set(newValue: balance - 10)
                } else {
                    await account.async.lowestPriority.set { $0 -= 10 }
                    await log.async.lowestPriority.set { $0 += 1 }
                }
            }
        }
        stage.check("both are paid") { try account.wait.lowestPriority.get().get() == 10 }
    },
    Fault("child tasks that get and set", says: "all counted: false") { stage, isWrong in
        let count = QueueSafeValue(value: 0)
        stage.task("a") {
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<2 {
                    group.addTask {
                        if isWrong {
                            let old = (try? await count.async.lowestPriority.get().get()) ?? 0
                            await count.async.lowestPriority.set(newValue: old + 1)
                        } else {
                            await count.async.lowestPriority.set { $0 += 1 }
                        }
                    }
                }
            }
        }
        stage.check("all counted") { try count.wait.lowestPriority.get().get() == 2 }
    },
    Fault("a cancelled task that keeps what it took", says: "given back: false") { stage, isWrong in
        let (seats, other) = (Protected(1), QueueSafeValue(value: 0))
        stage.task("a") {
            seats.wrappedValue -= 1
            if isWrong {
                // It fails when the task is cancelled.
                guard case .success = await other.async.lowestPriority.get() else { return }
                seats.wrappedValue += 1
            } else {
                defer { seats.wrappedValue += 1 }
                _ = await other.async.lowestPriority.get()
            }
        }
        stage.thread("b") { stage.cancel("a") }
        stage.check("given back") { seats.wrappedValue == 1 }
    },
]
