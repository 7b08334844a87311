//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// One run of a test: its threads, its tasks, and what must be true after them.
///
/// Names of threads and tasks are what a failure calls them.
public final class Schedule: Sendable {
    private let run: Run

    init(of run: Run) { self.run = run }
}

extension Schedule {
    /// Adds a thread.
    ///
    /// - Parameters:
    ///   - name: What a failure calls the thread.
    ///   - body: What it does, on a thread of its own. The test fails if it throws.
    public func thread<Result>(_ name: String, _ body: @escaping @Sendable () throws -> Result) {
        run.addThread(name) { _ = try body() }
    }

    /// Adds a task: it, its child tasks and the actors that these call run on threads of the schedule.
    ///
    /// - Parameters:
    ///   - name: What a failure calls the task.
    ///   - body: What it does. The test fails if it throws, but for a `CancellationError`.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    public func task<Result>(_ name: String, _ body: @escaping @Sendable () async throws -> Result) {
        run.addTask(name) { _ = try await body() }
    }

    /// Cancels a task of this schedule; to be called in its threads and tasks.
    ///
    /// - Parameter name: The name of the task.
    public func cancel(_ name: String) { run.cancel(name) }

    /// Adds what must be true when all threads and tasks are over.
    ///
    /// - Parameters:
    ///   - name: What a failure calls it.
    ///   - isTrue: Called on a thread of the schedule, with nothing beside it. The test fails if it throws, or waits for ever.
    public func check(_ name: String, _ isTrue: @escaping @Sendable () throws -> Bool) { run.addCheck(name, isTrue) }
}

#if EverySchedule
extension Run {
    fileprivate func addThread(_ name: String, _ body: @escaping @Sendable () throws -> Void) {
        let body = { [self] in do { try body() } catch { fail("\(name) threw \(error)") } }
        runners.append(Runner(name, self, after: Runner.current, body))
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    fileprivate func addTask(_ name: String, _ body: @escaping @Sendable () async throws -> Void) {
        let whole = Runner(name, self, after: self)
        runners.append(whole)
        whole.task = Task(executorPreference: TaskPool(name, self)) { [self] in
            do { try await body() } catch is CancellationError {} catch { fail("\(name) threw \(error)") }
            runners.removeAll { $0 === whole }
        }
    }

    fileprivate func cancel(_ name: String) {
        guard let me = Runner.current, let task = runners.first(where: { $0.name == name && $0.task != nil })?.task
        else { return }
        passBaton(from: me)
        steps.append(Step(runner: me.name, what: "cancel of \(name)"))
        task.cancel()
    }

    fileprivate func addCheck(_ name: String, _ isTrue: @escaping @Sendable () throws -> Bool) {
        let check = Runner("check \"\(name)\"", self) { [self] in
            let count = steps.count
            do { if try !isTrue() { fail("\(name): false") } } catch { fail("\(name): threw \(error)") }
            // What it did is told only if it hangs.
            steps.removeSubrange(count...)
        }
        (check.isAlone, checks) = (true, checks + [check])
    }
}
#else
/// Stands for the run that needs the trait. Nothing makes one.
final class Run: Sendable {
    func addThread(_ name: String, _ body: @escaping @Sendable () throws -> Void) {}
    func addTask(_ name: String, _ body: @escaping @Sendable () async throws -> Void) {}
    func addCheck(_ name: String, _ isTrue: @escaping @Sendable () throws -> Bool) {}
    func cancel(_ name: String) {}
}
#endif
