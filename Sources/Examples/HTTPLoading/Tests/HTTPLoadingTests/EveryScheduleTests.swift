//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// With the trait: swift test --traits EverySchedule
#if EverySchedule
import Dispatch
import Foundation
import HTTPLoading
import Testing
import ThreadSafeValue
import ThreadSafeValueTesting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Under every schedule")
struct EveryScheduleTests {
    @Test("Handlers are told the answer once, in whatever order they and the answer come")
    func answerLine() throws {
        let start = Date()
        let result = try everySchedule { schedule in
            let (line, calls) = (AnswerLine<Int>(on: DispatchQueue(label: "line")), Protected<[String]>([]))
            for name in ["a", "b"] {
                schedule.thread(name) {
                    line.wait { answer, done in
                        calls.append("\(name) \(answer ?? 0)")
                        done()
                    }
                }
            }
            schedule.thread("answers") { line.fulfil(7) }
            // The line is kept until then: with it, a `done` that nobody calls would go away.
            schedule.check("both are told") {
                withExtendedLifetime(line) { calls.wrappedValue.sorted() == ["a 7", "b 7"] }
            }
        }
        print("AnswerLine: \(result), \(Date().timeIntervalSince(start)) s")
    }

    @Test("Handlers of one thread are told in its order, one at a time")
    func answerLineInOrder() throws {
        try everySchedule { schedule in
            let (line, calls) = (AnswerLine<Int>(on: DispatchQueue(label: "line")), Protected<[Int]>([]))
            schedule.thread("adds") {
                for number in [1, 2] {
                    line.wait { _, done in
                        calls.append(number)
                        done()
                    }
                }
            }
            schedule.thread("answers") { line.fulfil(7) }
            schedule.check("in order") { withExtendedLifetime(line) { calls.wrappedValue == [1, 2] } }
        }
    }

    @Test("What is on disk in the end is the token that counts, also if a reset comes between")
    func token() throws {
        let file = temporaryFile()
        let result = try everySchedule { schedule in
            try? FileManager.default.removeItem(at: file)
            let mock = MockLoader()
            let loader = TokenLoader(file: file, next: mock)
            mock.then { _, completion in completion(.success(HTTPResponse(headers: ["x-token": "secret"]))) }
            schedule.thread("loads") { loader.load(request: anyRequest) { _ in } }
            schedule.thread("resets") { loader.reset(with: DispatchGroup()) }
            schedule.check("disk and memory agree") {
                loader.load(request: anyRequest) { _ in }
                let sent = mock.requests.last?.value(forHTTPHeaderField: "Authorization")
                return sent == (try? String(contentsOf: file, encoding: .utf8)).map { "Bearer \($0)" }
            }
        }
        print("TokenLoader: \(result)")
    }

    @Test("The token of a request from before a reset is not kept")
    func lateToken() throws {
        let file = temporaryFile()
        try everySchedule { schedule in
            try? FileManager.default.removeItem(at: file)
            let (mock, answer) = (MockLoader(), Protected<HTTPLoader.Completion?>(nil))
            let loader = TokenLoader(file: file, next: mock)
            mock.then { _, completion in answer.write(completion) }
            loader.load(request: anyRequest) { _ in }
            schedule.thread("resets") {
                loader.reset(with: DispatchGroup())
                answer.wrappedValue?(.success(HTTPResponse(headers: ["x-token": "old"])))
            }
            schedule.thread("loads") { loader.load(request: anyRequest) { _ in } }
            schedule.check("none is kept") { !FileManager.default.fileExists(atPath: file.path) }
        }
    }

    @Test("The mock uses each answer once, and notes each request")
    func mock() throws {
        try everySchedule { schedule in
            let (mock, results) = (MockLoader(), Protected<[String]>([]))
            for status in [201, 202] {
                mock.then { _, completion in completion(.success(HTTPResponse(status: status))) }
            }
            for name in ["a", "b", "c"] {
                schedule.thread(name) {
                    mock.load(request: anyRequest) { result in results.append((try? "\(result.get().status)") ?? "none")
                    }
                }
            }
            schedule.check("each answer once") { results.wrappedValue.sorted() == ["201", "202", "none"] }
            schedule.check("each request") { mock.requests.count == 3 }
        }
    }
}
#endif
