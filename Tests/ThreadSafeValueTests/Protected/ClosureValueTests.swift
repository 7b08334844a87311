//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Testing
import ThreadSafeValue

/// Unoptimised, the compiler wraps a bare closure in two thunks each time it passes through generic `inout` code, and
/// calling it overflows the stack after some ten thousand times (swiftlang/swift#91348). The rules that avoid it are in
/// the article ProtectingAValue; these tests follow them. They are exit tests, because the failure is a crash.
@Suite("A closure in a protected value")
struct ClosureValueTests {
    @Test("A closure in a struct is rewritten in place 200,000 times and can still be called")
    func inStruct() async {
        await #expect(processExitsWith: .success) {
            let handler = Protected(Handler { $0 + 1 })
            for _ in 0..<100_000 {
                handler.write { handler in
                    let old = handler.run
                    handler.run = old
                }
                rewrite(&handler.wrappedValue.run)
            }
            precondition(handler.read { $0.run(1) } == 2)
            precondition(handler.run(1) == 2)
        }
    }

    @Test("A closure in a struct is read 200,000 times and can still be called")
    func readFromStruct() async {
        await #expect(processExitsWith: .success) {
            let handler = Protected(Handler { $0 + 1 })
            var sum = 0
            for _ in 0..<50_000 {
                sum += handler.run(0)
                sum += handler.wrappedValue.run(0)
                sum += handler.read { $0.run }(0)
                sum += handler.write { $0.run }(0)
            }
            precondition(sum == 200_000)
            precondition(handler.run(1) == 2)
        }
    }

    @Test("A struct with a closure beside other members: changing those leaves the closure alone")
    func besideOthers() async {
        await #expect(processExitsWith: .success) {
            let handler = Protected(Handler { $0 + 1 })
            for _ in 0..<100_000 {
                handler.uses += 1
                handler.write { $0.uses += 1 }
            }
            precondition(handler.uses == 200_000)
            precondition(handler.run(1) == 2)
        }
    }

    @Test("A bare closure is read and replaced 200,000 times and can still be called")
    func bare() async {
        await #expect(processExitsWith: .success) {
            let closure = Protected<@Sendable (Int) -> Int>({ $0 + 1 })
            for _ in 0..<100_000 {
                _ = closure.wrappedValue
                _ = closure.read { $0 }
            }
            precondition(closure.wrappedValue(1) == 2)
            for turn in 0..<100_000 {
                closure.wrappedValue = { $0 + turn }
                _ = closure.exchange { $0 - turn }
            }
            precondition(closure.wrappedValue(100_000) == 1)
        }
    }
}

/// A trailing closure may be the access to the value, or the value itself.
@Suite("A trailing closure after a protected closure")
struct TrailingClosureTests {
    @Test("A closure after Protected is the value")
    func initializer() {
        let first = Protected { 1 }
        #expect(first.wrappedValue() == 1)
        let handles = [1, 2].map(Protected.init)
        #expect(handles.map(\.wrappedValue) == [1, 2])
    }

    @Test("A closure after write that takes a parameter is the access, whether the value is optional or not")
    func access() {
        let closure = Protected<@Sendable (Int) -> Void>({ _ in })
        let optional = Protected<(@Sendable (Int) -> Void)?>(nil)
        let calls = Protected(0)
        closure.write { calls.append(for: $0) }
        optional.write { calls.append(for: $0) }
        #expect(calls.wrappedValue == 2)
        #expect(optional.wrappedValue == nil)
        closure.wrappedValue(1)
        #expect(calls.wrappedValue == 2)
    }

    @Test("A closure after write that takes none is the value, whether the value is optional or not")
    func value() {
        let closure = Protected<@Sendable () -> Int>({ 1 })
        let optional = Protected<(@Sendable () -> Int)?>(nil)
        closure.write { 2 }
        optional.write { 3 }
        #expect(closure.wrappedValue() == 2)
        #expect(optional.wrappedValue?() == 3)
    }
}

extension Protected<Int> {
    /// Counts a call, whatever it was given.
    fileprivate func append<Argument>(for _: Argument) { wrappedValue += 1 }
}

private struct Handler: Sendable {
    var run: @Sendable (Int) -> Int
    var uses = 0

    init(run: @escaping @Sendable (Int) -> Int) {
        self.run = run
    }
}

private func rewrite(_ closure: inout @Sendable (Int) -> Int) {
    let old = closure
    closure = old
}
