//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation
import Testing
import ThreadSafeValue

/// The main loop of a server never returns. There the optimizer of Swift 6.3 may let go of an object more often than it
/// keeps it, if the code that it inlines keeps a copy over a branch. Each of these programs crashed for that reason, or
/// kept all that it used.
@Suite("In a function that never returns values live as long as elsewhere, and no longer")
struct NeverReturningTests {
    @Test("Whatever is used in its loops is there, and goes away after that", arguments: MainLoop.allCases)
    func lives(loop: MainLoop) async {
        await #expect(processExitsWith: .success) { [loop] in
            giveUp(afterSeconds: 120)
            #if canImport(Glibc)
            // Memory that is freed is overwritten: what was let go too often is noticed.
            _ = setMemoryOption(-6, 165)
            #endif
            loop.run()
        }
    }
}

#if canImport(Glibc)
@_silgen_name("mallopt")
private func setMemoryOption(_ option: Int32, _ value: Int32) -> Int32
#endif

enum MainLoop: CaseIterable, Codable, Sendable {
    case setsValue, setsManually, submits, submitsManually

    fileprivate func run() -> Never {
        switch self {
        case .setsValue: loopThatSets()
        case .setsManually: loopThatSetsManually()
        case .submits: loopThatSubmits()
        case .submitsManually: loopThatSubmitsManually()
        }
    }
}

let loopItems = Counted.Tally()

final class LoopItem: Sendable {
    let number: Int
    private let counted = Counted(tally: loopItems)

    init(_ number: Int) { self.number = number }
}

/// Each round has let go of its items, but perhaps the last ones.
@inline(never)
func endLoop(of queue: DispatchQueue? = nil) -> Never {
    queue?.sync {}
    if loopItems.alive > 100 { print("\(loopItems.alive) items are left") }
    exit(loopItems.alive > 100 ? 1 : 0)
}

// Nothing of this is private: the optimizer would know too much of it.
typealias LoopValue = QueueSafeValue<[LoopItem]>

@inline(never)
func loopThatSets() -> Never {
    for _ in 0..<5_000 {
        let value = LoopValue(value: [])
        let other = Protected<LoopValue?>(nil)
        other.wrappedValue = value
        for number in 0..<5 { value.wait.lowestPriority.set(newValue: [LoopItem(number)]) }
        if let same = other.wrappedValue, (try? same.wait.lowestPriority.get().get().count) == nil { print("lost") }
    }
    endLoop()
}

@inline(never)
func loopThatSetsManually() -> Never {
    for _ in 0..<5_000 {
        let value = LoopValue(value: [])
        let other = Protected<LoopValue?>(nil)
        other.wrappedValue = value
        for number in 0..<5 {
            value.wait.lowestPriority.set { items, done in
                items.append(LoopItem(number))
                done()
            }
        }
        if let same = other.wrappedValue, (try? same.wait.lowestPriority.get().get().count) == nil { print("lost") }
    }
    endLoop()
}

@inline(never)
func loopThatSubmits() -> Never {
    let queue = DispatchQueue(label: "submits")
    for _ in 0..<5_000 {
        let value = LoopValue(value: [])
        let other = Protected<LoopValue?>(nil)
        other.wrappedValue = value
        for number in 0..<5 {
            value.async(performIn: queue).lowestPriority.set(newValue: [LoopItem(number)])
            value.async(performIn: queue).lowestPriority.set { $0.append(LoopItem(number)) }
            value.async(performIn: queue).lowestPriority.get { if (try? $0.get().count) == nil { print("lost") } }
        }
        if let same = other.wrappedValue, (try? same.wait.lowestPriority.get().get().count) == nil { print("lost") }
    }
    endLoop(of: queue)
}

@inline(never)
func loopThatSubmitsManually() -> Never {
    let queue = DispatchQueue(label: "submits manually")
    for _ in 0..<5_000 {
        let value = LoopValue(value: [])
        let other = Protected<LoopValue?>(nil)
        other.wrappedValue = value
        for number in 0..<5 {
            value.async(performIn: queue).lowestPriority.set { items, done in
                items.append(LoopItem(number))
                done()
            }
            let handle = value.async(performIn: queue).lowestPriority.set(
                { items, done in
                    items.append(LoopItem(number))
                    done()
                },
                completion: { if (try? $0.get().count) == nil { print("lost") } }
            )
            if handle.state == .cancelled { print("lost") }
        }
        if let same = other.wrappedValue, (try? same.wait.lowestPriority.get().get().count) == nil { print("lost") }
    }
    endLoop(of: queue)
}
