//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import ThreadSafeValue

// Pools of four connections. A task that uses a connection lets other tasks run meanwhile.

package final class ProtectedPool: Awaiting {
    private let idle = Protected([0, 0, 0, 0])

    package init() {}

    @inline(never)
    package func change() async {
        guard let uses = try? await idle.write(when: { !$0.isEmpty }, { $0.removeLast() }) else { return }
        await Task.yield()
        idle.append(uses + 1)
    }

    package var total: Int {
        get async { idle.read { $0.reduce(0, +) } }
    }
}

package final class QueueSafePool: Awaiting {
    private let idle = QueueSafeValue(value: [0, 0, 0, 0])

    package init() {}

    @inline(never)
    package func change() async {
        let uses = await idle.async.highestPriority.update(when: { !$0.isEmpty }) { $0.removeLast() }
        guard case .success(let uses) = uses else { return }
        await Task.yield()
        await idle.async.highestPriority.update { $0.append(uses + 1) }
    }

    package var total: Int {
        get async { ((try? await idle.async.highestPriority.get().get()) ?? []).reduce(0, +) }
    }
}

package final class ActorPool: Awaiting {
    private actor Pool {
        private var idle = [0, 0, 0, 0]
        private var waiting: [CheckedContinuation<Int, Never>] = []

        func take() async -> Int {
            if !idle.isEmpty { return idle.removeLast() }
            return await withCheckedContinuation { waiting.append($0) }
        }

        func giveBack(_ uses: Int) {
            if waiting.isEmpty { idle.append(uses) } else { waiting.removeFirst().resume(returning: uses) }
        }

        var total: Int { idle.reduce(0, +) }
    }

    private let pool = Pool()

    package init() {}

    @inline(never)
    package func change() async {
        let uses = await pool.take()
        await Task.yield()
        await pool.giveBack(uses + 1)
    }

    package var total: Int {
        get async { await pool.total }
    }
}
