//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// Public, because time limits are given in its type.
public import Dispatch

/// Explorations run one after the other, as the library has one scheduler.
private let turn = DispatchSemaphore(value: 1)

/// Runs a test under every order of its accesses that has few interruptions of threads, the fewest first.
///
/// ```swift
/// try everySchedule { schedule in
///     let cache = Cache()
///     schedule.thread("a") { cache.image("x") }
///     schedule.thread("b") { cache.image("x") }
///     schedule.check("loaded once") { cache.loads == 1 }
/// }
/// ```
///
/// It needs the package trait `EverySchedule`. It ends at the first schedule that fails: one whose check is not true,
/// that hangs, in which a thread throws, or in which accesses nest in opposite orders. Explorations of one process run
/// one after the other.
///
/// - Parameters:
///   - changes: How often threads that could go on may be interrupted in one schedule, all together.
///   - limit: How many schedules to run at most.
///   - timeout: After how long to begin no other schedule.
///   - text: The one schedule to run, as a failure gave it.
///   - test: Makes the values, and names the threads, the tasks and the checks. Called once for each schedule, on the
///     calling thread.
/// - Returns: How many schedules there were, and whether that is all.
/// - Throws: A ``ScheduleFailure`` that describes the first schedule that fails, or what `test` throws.
@discardableResult public func everySchedule(
    changes: Int = 2,
    limit: Int = 100_000,
    timeout: DispatchTimeInterval = .seconds(60),
    replaying text: String? = nil,
    _ test: (Schedule) throws -> Void
) throws -> Exploration {
    #if EverySchedule
    turn.wait()
    defer { turn.signal() }
    _ = Hooks.install
    let (search, end) = (Search(changes: max(0, changes), replaying: text), DispatchTime.now() + timeout)
    while search.next() {
        if text == nil, search.schedules > limit || DispatchTime.now() > end {
            return Exploration(schedules: search.schedules - 1, extent: .stopped)
        }
        let run = Run(search)
        if let message = try run.execute(test) {
            // Once more, with the places of the steps that are told.
            search.begin(search.taken)
            let again = Run(search, tracedFrom: run.steps.count - 200)
            if let message = try again.execute(test) { throw again.failure(message) }
            throw run.failure("\(message), but not when run again")
        }
    }
    let extent = text != nil ? Exploration.Extent.replayed : search.isCut ? .changes(changes) : .all
    return Exploration(schedules: search.schedules, extent: extent)
    #else
    let description = """
        everySchedule needs the package trait EverySchedule of ThreadSafeValue, and that is off: nothing was tested. \
        Add traits: ["EverySchedule"] to the dependency, in a package for tests or behind a trait of your own.
        """
    throw ScheduleFailure(description: description, schedules: 0, replay: "")
    #endif
}

/// How much of a test was explored.
public struct Exploration: Equatable, Sendable, CustomStringConvertible {
    /// How many schedules were run.
    public let schedules: Int

    /// Which schedules these were.
    public let extent: Extent

    /// Which schedules were run.
    public enum Extent: Hashable, Sendable {
        /// All schedules of the test.
        case all

        /// All with at most so many changes of threads.
        case changes(Int)

        /// The schedules that began before the search reached the limit of schedules or of time.
        case stopped

        /// The schedule that `replaying` named.
        case replayed
    }

    /// The numbers in words.
    public var description: String {
        let count = schedules == 1 ? "1 schedule" : "\(schedules) schedules"
        return switch extent {
        case .all: "\(count): all"
        case .changes(let changes): "\(count): all with at most \(number(changes, "change")) of threads"
        case .stopped: "\(count), then stopped by a limit"
        case .replayed: "\(count), replayed"
        }
    }
}

/// Why a test failed, in which schedule.
public struct ScheduleFailure: Error, Equatable, Sendable, CustomStringConvertible {
    /// The failure, the steps of each thread before it, and how to replay it.
    public let description: String

    /// How many schedules were run, with the one that failed.
    public let schedules: Int

    /// The text to pass as `replaying`.
    public let replay: String
}

func number(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
