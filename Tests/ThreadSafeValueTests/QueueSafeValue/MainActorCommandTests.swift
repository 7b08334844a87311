//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Testing
import ThreadSafeValue

/// What only the main actor may touch.
@MainActor
private final class Screen {
    var shown: [String] = []

    nonisolated init() {}

    func show(_ text: String) -> Int {
        shown.append(text)
        return shown.count
    }
}

@Suite("Commands on the main actor")
struct MainActorCommandTests {
    private struct Refused: Error {}

    @Test func `Their closures and completions use what belongs to the main actor`() async {
        let screen = Screen()
        let value = QueueSafeValue(value: 1)
        let commands = value.asyncOnMainActor.lowestPriority
        await withCheckedContinuation { continuation in
            commands.get { result in _ = screen.show("get \(result)") }
            commands.set(newValue: 2) { result in _ = screen.show("set \(result)") }
            commands.set(newValue: 3)
            commands.set { number in number += screen.show("change") }
            commands.set {
                $0 += screen.show("change")
            } completion: { result in
                _ = screen.show("changed \(result)")
            }
            commands.set { number, done in
                number += screen.show("change")
                DispatchQueue.global().async { done() }
            } completion: { result in
                _ = screen.show("changed \(result)")
            }
            commands.set { (_: inout Int) in throw Refused() }
            commands.update {
                $0 += 1
                return screen.show("answer")
            } completion: { result in
                // A manual command tells when its `done` was called, which may be later than what comes behind it.
                _ = screen.show("answered \(result == .success(7) || result == .success(8))")
                continuation.resume()
            }
        }
        let shown = await screen.shown
        let expected = [
            "get success(1)", "set success(2)", "change", "change", "changed success(10)", "change", "answer",
            "answered true",
        ]
        #expect(shown.filter { !$0.hasPrefix("changed success(16)") } == expected)
        #expect(await value.async.lowestPriority.get() == .success(17))
    }

    @Test func `A value that is read there may be kept until done is called`() async {
        let screen = Screen()
        let value = QueueSafeValue(value: 1)
        await withCheckedContinuation { continuation in
            value.asyncOnMainActor.lowestPriority.get { result, done in
                _ = screen.show("read \(result)")
                DispatchQueue.global().async {
                    #expect(value.wait(timeout: .seconds(0)).lowestPriority.get() == .failure(.timedOut))
                    done()
                }
            } completion: { result in
                _ = screen.show("told \(result)")
                continuation.resume()
            }
        }
        #expect(await screen.shown == ["read success(1)", "told success(1)"])
    }

    @Test func `A command that is taken back tells so on the main actor`() async {
        let screen = Screen()
        let value = QueueSafeValue(value: 1)
        let blocker = Blocker(value)
        await withCheckedContinuation { continuation in
            let handle = value.asyncOnMainActor.highestPriority.get { result in
                _ = screen.show("\(result == .failure(.cancelled))")
                continuation.resume()
            }
            handle.cancel()
        }
        blocker.end()
        #expect(await screen.shown == ["true"])
    }
}
