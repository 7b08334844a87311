//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation
import Testing
import ThreadSafeValue

/// Random programs on 2 to 4 threads, whose histories must be those of a number that one thread alone uses.
///
/// `TEST_SEED` has the same programs again, `TEST_PROGRAM` one program as often as there are histories, and
/// `TEST_HISTORIES` says how many.
@Suite("Histories are linearizable")
struct LinearizabilityTests {
    private static let environment = ProcessInfo.processInfo.environment

    #if DEBUG
    private static let usualHistories = 2_000
    #else
    private static let usualHistories = 20_000
    #endif

    private static let histories = environment["TEST_HISTORIES"].flatMap { Int($0) } ?? rounds(usualHistories)

    @Test("The histories of all programs are explained by one thread that runs the commands one by one")
    func histories() async throws {
        try await onThreadOfItsOwn {
            let given = Self.environment["TEST_PROGRAM"].flatMap { UInt64($0) }
            var random = SeededRandom(for: "linearizability")
            let crew = Crew()
            var tally = Tally()
            let begin = now()
            for _ in 0..<Self.histories {
                let program = RandomProgram(seed: given ?? random.next())
                let history = try crew.run(program, with: LibrarySubject())
                tally.add(history)
                try #require(
                    LinearizabilityChecker.order(of: history) != nil,
                    "TEST_PROGRAM=\(program.seed) has a history that nothing explains:\n\(history.table)"
                )
            }
            print("linearizability: \(tally), in \((now() - begin) / 1_000_000) ms")
            // Time-outs, cancellations and suspensions did happen, and did not eat up everything.
            #expect(tally.operations == Self.histories * 24)
            #expect(tally.answered * 2 > tally.operations)
            #expect(tally.notDone > 0 && tally.suspensions > 0 && tally.overlaps > 0)
        }
    }

    @Test("A stand-in that is broken is found out, and found out again by its seed", arguments: StandIn.Fault.allCases)
    func broken(fault: StandIn.Fault) async throws {
        try await onThreadOfItsOwn {
            var random = SeededRandom(for: "broken: \(fault)")
            let crew = Crew()
            let (seed, histories) = try #require(try Self.findFault(5_000, crew, fault) { random.next() })
            let again = try #require(try Self.findFault(5_000, crew, fault) { seed })
            print("\(fault): found in history \(histories), and with its program in history \(again.histories)")
        }
    }

    @Test("A stand-in that is not broken is never accused")
    func sound() async throws {
        try await onThreadOfItsOwn {
            var random = SeededRandom(for: "sound")
            let accused = try Self.findFault(500, Crew(), nil) { random.next() }
            #expect(accused == nil)
        }
    }

    /// Runs programs until a history is found that nothing explains.
    private static func findFault(
        _ histories: Int,
        _ crew: Crew,
        _ fault: StandIn.Fault?,
        seed: () -> UInt64
    ) throws -> (seed: UInt64, histories: Int)? {
        for number in 1...histories {
            let program = RandomProgram(seed: seed())
            let history = try crew.run(program, with: StandIn(fault))
            if LinearizabilityChecker.order(of: history) == nil { return (program.seed, number) }
        }
        return nil
    }
}

/// What happened in many histories.
private struct Tally: CustomStringConvertible {
    private(set) var histories = 0
    private(set) var operations = 0
    private(set) var answered = 0
    private(set) var notDone = 0
    private(set) var suspensions = 0
    private(set) var overlaps = 0

    mutating func add(_ history: [ThreadSafeValueTests.Operation]) {
        histories += 1
        operations += history.count
        for (index, one) in history.enumerated() {
            switch (one.kind, one.answer) {
            case (.suspend, _): suspensions += 1
            case (.command, .nothing): notDone += 1
            case (.command, _): answered += 1
            default: break
            }
            overlaps += history[..<index].count { $0.call <= one.end && one.call <= $0.end }
        }
    }

    var description: String {
        """
        \(histories) histories, \(operations) operations: \(answered) commands took place, \(notDone) were timed out \
        or cancelled, \(suspensions) suspensions; \(overlaps / max(histories, 1)) pairs of operations a history \
        overlapped
        """
    }
}

extension [ThreadSafeValueTests.Operation] {
    /// The history for a reader, in order of the calls.
    fileprivate var table: String {
        let begin = map(\.call).min() ?? 0
        return sorted { $0.call < $1.call }.map { operation in
            let seen = operation.seen.map { ", saw \($0)" } ?? ""
            return "\(operation.call - begin)–\(operation.end - begin) \(operation.kind): \(operation.answer)\(seen)"
        }.joined(separator: "\n")
    }
}
