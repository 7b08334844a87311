//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Workloads

/// What an operation costs while there is more and more of something.
struct Growth {
    /// The name of its picture.
    let file: String
    let title: String
    /// What there is more and more of, and how much.
    let unit: String
    let sizes: [Int]
    private(set) var curves: [Curve]

    struct Curve {
        let name: String
        let isOurs: Bool
        /// The nanoseconds of an operation beside so many others.
        let measure: (_ size: Int) -> Double
        /// Nanoseconds of each size, round by round.
        fileprivate(set) var times: [[Double]] = []
    }

    func measured(rounds: Int) -> Growth {
        var growth = self
        for curve in curves.indices { growth.curves[curve].times = sizes.map { _ in [] } }
        // The first round warms up.
        for round in 0...rounds {
            for (place, size) in sizes.enumerated() {
                for curve in curves.indices {
                    let time = curves[curve].measure(size)
                    if round > 0 { growth.curves[curve].times[place].append(time) }
                }
            }
        }
        return growth
    }

    /// The times of the first curve, which is ours, or of another one, its peer.
    func times(of size: Int, curve: Int = 0) -> [Double] {
        curves[curve].times[sizes.firstIndex(of: size)!]
    }

    static func all(_ effort: Effort) -> [Growth] {
        [
            Growth(
                file: "growth-threads",
                title: "Threads that change one value, left to the system",
                unit: "threads",
                sizes: [1, 2, 4, 8, 16, 32, 64],
                curves: Contest.changes.contestants.compactMap { contestant in
                    guard [Goal.set, "Protected.write", "Mutex", "NIOLockedValueBox"].contains(contestant.name) else {
                        return nil
                    }
                    return Curve(name: contestant.name, isOurs: contestant.isOurs) { threads in
                        let setting = Setting("\(threads)", threads: threads).leftToSystem
                        return contestant.round(in: setting, effort).nanosecondsPerOperation
                    }
                }
            ),
            Growth(
                file: "growth-pending",
                title: "Pending commands: submitting and carrying out each",
                unit: "pending commands",
                sizes: [1, 10, 100, Pending.few, 10_000, 100_000, Pending.many],
                curves: [
                    Curve(name: "async.set { }", isOurs: true) { Pending.time(of: $0, Pending.commands) },
                    Curve(name: "DispatchQueue.async + lock", isOurs: false) { Pending.time(of: $0, Pending.blocks) },
                ]
            ),
            Growth(
                file: "growth-queues",
                title: "A command while other target queues wait",
                unit: "target queues",
                sizes: [1, 10, 100, 1_000, ManyTargets.many],
                curves: [
                    Curve(name: "async.set { }", isOurs: true) { ManyTargets.time(of: $0, ManyTargets.commands) },
                    Curve(name: "queues + lock", isOurs: false) { ManyTargets.time(of: $0, ManyTargets.blocks) },
                ]
            ),
            Growth(
                file: "growth-tasks",
                title: "Tasks that change one value",
                unit: "tasks",
                sizes: [1, 10, 100, 1_000, 10_000],
                curves: Contest.awaits.contestants.map { contestant in
                    Curve(name: contestant.name, isOurs: contestant.isOurs) { tasks in
                        let round = contestant.prepare(Setting("\(tasks)", tasks: tasks).leftToSystem)
                        let operations = max(10_000, 10 * tasks)
                        let start = nanoseconds()
                        round.run(operations)
                        return Double(nanoseconds() - start) / Double(operations)
                    }
                }
            ),
        ]
    }

    /// What code bases did that were moved onto the library.
    static var realCode: [Growth] {
        [
            Growth(
                file: "growth-beside",
                title: "Submitting beside threads that wait for their own changes",
                unit: "threads, of which the first submits",
                sizes: [1, 2],
                curves: [
                    Curve(name: "async.set { }", isOurs: true, measure: BesideWait.commands),
                    Curve(name: "DispatchQueue.async + lock", isOurs: false, measure: BesideWait.blocks),
                ]
            ),
            Growth(
                file: "growth-lanes",
                title: "Running 8,000 commands for several target queues in turn",
                unit: "target queues",
                sizes: [1, 2, 8],
                curves: [
                    Curve(name: "async.set { } completion: { }", isOurs: true, measure: DeepLanes.commands),
                    Curve(name: "queues + lock", isOurs: false, measure: DeepLanes.blocks),
                    Curve(name: "queues, each starts the next", isOurs: false, measure: DeepLanes.chain),
                ]
            ),
            Growth(
                file: "growth-async-closures",
                title: "Async closures that waited for the value",
                unit: "tasks",
                sizes: [AsyncClosures.few, AsyncClosures.many],
                curves: [
                    Curve(name: "await value.async.set { await }", isOurs: true, measure: AsyncClosures.commands),
                    Curve(name: "continuations by hand", isOurs: false, measure: AsyncClosures.byHand),
                ]
            ),
            Growth(
                file: "growth-connection",
                title: "Tasks that wait for one connection: processor time",
                unit: "tasks",
                sizes: [OneConnection.few, 200, 400, OneConnection.many],
                curves: [
                    Curve(name: "try await write(when:)", isOurs: true, measure: OneConnection.conditions),
                    Curve(name: "continuations by hand", isOurs: false, measure: OneConnection.byHand),
                ]
            ),
        ]
    }
}
