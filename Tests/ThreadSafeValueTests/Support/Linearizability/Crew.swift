//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Foundation
import ThreadSafeValue

/// Threads that run one program after the other.
final class Crew: Sendable {
    private let members: [Member]

    init(count: Int = 4) {
        members = (0..<count).map { _ in Member() }
    }

    deinit {
        for member in members { member.give(nil) }
    }
}

extension Crew {
    /// Runs a program and records its history.
    ///
    /// - Throws: `Hung` if an operation is not answered in time.
    func run(_ program: RandomProgram, with subject: any Subject) throws -> [Operation] {
        let history = DispatchGroup()
        let gate = StartGate(count: program.threads.count)
        let threads = program.threads.map { steps in
            steps.map { step in (step: step, record: OperationRecord(of: step, in: history)) }
        }
        for (member, steps) in zip(members, threads) {
            history.enter()
            member.give {
                gate.pass()
                for (step, record) in steps { step.run(with: subject, record) }
                history.leave()
            }
        }
        if history.wait(timeout: .now() + 300) == .timedOut {
            let open = threads.enumerated().flatMap { index, steps in
                steps.filter { $0.record?.isOpen == true }.map { "thread \(index): \($0.step)" }
            }
            throw Hung(
                description: "TEST_PROGRAM=\(program.seed) has operations without an answer:\n"
                    + open.joined(separator: "\n")
            )
        }
        return threads.flatMap { $0.compactMap { $0.record?.operation } }
    }
}

extension OperationRecord {
    fileprivate convenience init?(of step: RandomProgram.Step, in history: DispatchGroup) {
        switch step {
        case .command(let command): self.init(.command(command.effect), of: history)
        case .suspend: self.init(.suspend, of: history)
        case .resume: self.init(.resume, of: history)
        case .pause: return nil
        }
    }
}

extension RandomProgram.Step {
    fileprivate func run(with subject: any Subject, _ record: OperationRecord?) {
        record?.isCalled()
        switch self {
        case .command(let command): subject.carryOut(command, record!)
        case .suspend:
            subject.suspend()
            record?.isAnswered(.done)
        case .resume: record?.isAnswered(subject.resume() ? .done : .notSuspended)
        case .pause(let nanoseconds): work(nanoseconds: nanoseconds)
        }
    }
}

/// A thread that waits for jobs, until one is `nil`.
private struct Member: Sendable {
    private let jobs = Log<(@Sendable () -> Void)?>()
    private let isGiven = DispatchSemaphore(value: 0)

    init() {
        Thread { [jobs, isGiven] in
            isGiven.wait()
            while let job = jobs.takeFirst() ?? nil {
                job()
                isGiven.wait()
            }
        }.start()
    }

    func give(_ job: (@Sendable () -> Void)?) {
        jobs.add(job)
        isGiven.signal()
    }
}
