//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Testing
import ThreadSafeValue

/// So its `deinit` may use the value.
@Suite("What a protected value lets go ends after the lock is free")
struct ReplacedValueTests {
    @Test("A value that is replaced goes away outside the lock, so its deinit may use the new one")
    func replacedValueEndsOutside() async {
        await #expect(processExitsWith: .success) {
            giveUp(afterSeconds: 120)
            let last = Protected<Last?>(nil)
            let isNil = Protected<Bool?>(nil)
            last.wrappedValue = Last { isNil.wrappedValue = last.read { $0 == nil } }
            last.wrappedValue = nil
            precondition(isNil.wrappedValue == true)
        }
    }

    @Test("What is replaced goes away without the lock, and may use the value")
    func replaced() async {
        await #expect(processExitsWith: .success) {
            for replacement in Replacement.allCases {
                giveUp(afterSeconds: 120)
                let (state, seen) = (Protected(TokenState()), Log<Int>())
                state.wrappedValue = TokenState(current: Last { seen.add(state.count) }, count: 7)
                replacement.make(of: state)
                if seen.entries != [replacement.countAfter] { fatalError("\(replacement): \(seen.entries)") }
            }
        }
    }

    @Test("So does a replaced element of an `InlineArray`")
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    func replacedElement() async {
        await #expect(processExitsWith: .success) {
            giveUp(afterSeconds: 120)
            let (lasts, seen) = (Protected(InlineArray<2, Last?>(repeating: nil)), Log<Bool>())
            lasts[1] = Last { seen.add(lasts.read { $0[1] == nil }) }
            lasts[1] = nil
            precondition(seen.entries == [true])
        }
    }

    @Test("What an array, a dictionary or a lazy member lets go goes away with the form that takes it out")
    func takenOut() async {
        await #expect(processExitsWith: .success) {
            giveUp(afterSeconds: 120)
            let (tokens, seen) = (Protected([String: Last]()), Log<Int>())
            tokens.write { $0["a"] = Last { seen.add(tokens.count) } }
            // `tokens["a"] = nil` would end it under the lock.
            _ = tokens.write { $0.removeValue(forKey: "a") }
            precondition(seen.entries == [0])
        }
    }

    @Test("What a computed member makes, and its reader drops, goes away without the lock")
    func computed() async {
        await #expect(processExitsWith: .success) {
            giveUp(afterSeconds: 120)
            let (state, seen) = (Protected(TokenState(count: 7)), Log<Int>())
            state.make = { Last { seen.add(state.count) } }
            readNew(of: state)
            precondition(seen.entries == [7, 7])
            // It keeps the value.
            state.make = { 0 }
        }
    }

    @Test("What a setter drops goes away without the lock, in generic code too")
    func droppedBySetter() async {
        await #expect(processExitsWith: .success) {
            giveUp(afterSeconds: 120)
            let (state, seen) = (Protected(TokenState(count: 7)), Log<Int>())
            replace(\.dropped, of: state, with: Last { seen.add(state.count) })
            state.dropped = Last { seen.add(state.count) }
            precondition(seen.entries == [7, 7])
        }
    }
}

/// Every way to replace a part of the value, or all of it.
private enum Replacement: CaseIterable {
    case member, memberOfMember, value, exchange, transition, memberTransition
    // What hands the old value out, and the caller drops it.
    case dropped, droppedInTime, droppedIfFree, droppedOfTwo, droppedOfThree, droppedOfList

    var countAfter: Int {
        switch self {
        case .value, .exchange, .transition: 0
        default: 7
        }
    }

    // Not inlined, so that a value that is handed out and dropped has gone when this returns.
    @inline(never)
    fileprivate func make(of state: Protected<TokenState>) {
        switch self {
        case .member: state.current = nil
        case .memberOfMember: state[dynamicMember: \.phase.last] = nil
        case .value: state.wrappedValue = TokenState()
        case .exchange: _ = state.exchange(TokenState())
        case .transition: precondition(state.attemptToTransition(to: TokenState()))
        case .memberTransition: precondition(state.attemptToTransition(\.phase, to: TokenPhase()))
        case .dropped: _ = state.write { $0.take() }
        case .droppedInTime: _ = state.write(timeout: .seconds(300)) { $0.take() }
        case .droppedIfFree: _ = state.tryWrite { $0.take() }
        case .droppedOfTwo: _ = withLocked(state, Protected(0)) { state, _ in state.take() }
        case .droppedOfThree: _ = withLocked(state, Protected(0), Protected(0)) { state, _, _ in state.take() }
        case .droppedOfList: _ = withLocked([state]) { $0[0].take() }
        }
    }
}

private struct TokenPhase: Transitionable, Sendable {
    var last: Last?

    func canTransition(to next: TokenPhase) -> Bool { true }
}

private struct TokenState: Transitionable, Sendable {
    var phase = TokenPhase()
    var count = 0

    init(current: Last? = nil, count: Int = 0) {
        phase.last = current
        self.count = count
    }

    var make: @Sendable () -> any Sendable = { 0 }

    var new: any Sendable { make() }

    var newToSet: any Sendable {
        get { make() }
        set { make = { newValue } }
    }

    var current: Last? {
        get { phase.last }
        set { phase.last = newValue }
    }

    /// Keeps nothing of what it is set to.
    var dropped: Last? {
        get { nil }
        set {}
    }

    mutating func take() -> Last? { phase.last.take() }

    func canTransition(to next: TokenState) -> Bool { true }
}

// Not inlined, so that what it drops has gone when it returns.
@inline(never)
private func readNew(of state: Protected<TokenState>) {
    _ = state.new
    _ = state.newToSet
}

// Not specialised, as in another module that does not know the types.
@inline(never)
@_semantics("optimize.sil.specialize.generic.never")
private func replace<Value, Member>(
    _ member: WritableKeyPath<Value, Member>,
    of value: Protected<Value>,
    with new: consuming Member
) {
    value[dynamicMember: member] = new
}
