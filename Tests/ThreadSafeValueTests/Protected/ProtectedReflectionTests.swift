//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Testing
import ThreadSafeValue

@Suite("Descriptions and reflection of protected values")
struct ProtectedReflectionTests {
    struct Node: Sendable {
        var name: String
        var parent: Protected<Node>?
        var children: [Protected<Node>] = []
    }

    @Test("The description shows the value")
    func describes() {
        #expect(Protected(5).debugDescription == "Protected(5)")
        #expect(String(reflecting: Protected("five")) == #"Protected("five")"#)
        #expect("\(Protected([1, 2]))" == "Protected([1, 2])")
    }

    @Test("Describing never waits: not for another thread that holds the lock")
    func doesNotWait() {
        let number = Protected(5)
        let (held, described) = (Door(), Door())
        let holder = RunningThread {
            number.write { _ in
                held.open()
                described.waitUntilOpen()
            }
        }
        held.waitUntilOpen()
        #expect(number.debugDescription == "Protected(locked)")
        described.open()
        holder.join()
        #expect(number.debugDescription == "Protected(5)")
    }

    @Test("Describing never waits: not for an access of its own thread")
    func doesNotWaitForItself() {
        let number = Protected(5)
        #expect(number.read { _ in number.debugDescription } == "Protected(locked)")
        #expect(number.write { _ in "\(number)" } == "Protected(locked)")
        #expect(number.debugDescription == "Protected(5)")
    }

    /// The system runs an `onCancel` under a lock of the task, which that needs to bind a task-local value.
    @Test("Describing never waits: not for an `onCancel` of its task, which waits for what the task has")
    func doesNotWaitForCancellation() async {
        await #expect(processExitsWith: .success) {
            giveUp(afterSeconds: 120)
            let (state, model) = (Protected(0), Protected(1))
            let (isInside, isCancelled) = (Door(), Door())
            let task = OwnThreads.run {
                await withTaskCancellationHandler {
                    state.write { _ in
                        isInside.open()
                        isCancelled.waitUntilOpen()
                        precondition("\(model)" == "Protected(1)")
                    }
                } onCancel: {
                    isCancelled.open()
                    state.write { $0 += 1 }
                }
            }
            try await onThreadOfItsOwn {
                isInside.waitUntilOpen()
                task.cancel()
            }
            await task.value
            precondition(state.wrappedValue == 1)
        }
    }

    @Test("Handles that a description makes are described, though each comes to where the one before was")
    func describesTemporaries() {
        struct Counter: CustomDebugStringConvertible {
            var debugDescription: String { (0..<3).map { "\(Protected($0))" }.joined(separator: " ") }
        }
        #expect("\(Protected(Counter()))" == "Protected(Protected(0) Protected(1) Protected(2))")
    }

    @Test("The description of a value is made outside the lock, so it may use the value")
    func describesOutside() {
        #expect(Proud.shared.debugDescription == "Protected(number 1)")
    }

    @Test("A handle is described as one, and its members are the value's")
    func describesHandle() {
        let number = Protected(200)
        #expect("\(number)" == "Protected(200)")
        #expect("\(number.wrappedValue)" == "200")
        #expect(number.description == "200")
    }

    @Test("The description of a value that leads back to its handle shows each handle once")
    func describesCircle() {
        let (root, child) = (Protected(Node(name: "root")), Protected(Node(name: "child")))
        child.parent = root
        root.children = [child, child]
        func text(_ name: String, _ parent: String, _ children: [String]) -> String {
            let (type, children) = (String(reflecting: Node.self), children.joined(separator: ", "))
            return "Protected(\(type)(name: \"\(name)\", parent: \(parent), children: [\(children)]))"
        }
        let childText = text("child", "Optional(Protected(…))", [])
        #expect("\(root)" == text("root", "nil", [childText, "Protected(…)"]))
        #expect("\([root, root])" == "[\(root), \(root)]")
        #expect("\(Protected(root))".hasPrefix("Protected(Protected("))
        (child.parent, root.children) = (nil, [])
    }

    @Test("A dump of a handle shows a copy of the value")
    func dumps() {
        let names = Protected(["Ada", "Grace"])
        #expect(dumped(names).contains("Ada"))
        #expect(Mirror(reflecting: names).children.map(\.label) == ["value"])
        #expect(Mirror(reflecting: names).children.first?.value as? [String] == ["Ada", "Grace"])
        #expect(dumped(Holder(names: names)).contains("Grace"))
    }

    @Test("A dump of a value that is being accessed says so, and never waits")
    func dumpsLocked() {
        let names = Protected(["Ada"])
        names.write { _ in
            #expect(dumped(names).contains("locked"))
            #expect(!dumped(names).contains("Ada"))
        }
        let (isHeld, mayEnd) = (Door(), Door())
        let holder = RunningThread {
            names.read { _ in
                isHeld.open()
                mayEnd.waitUntilOpen()
            }
        }
        isHeld.waitUntilOpen()
        #expect(dumped(names).contains("locked"))
        mayEnd.open()
        holder.join()
        #expect(dumped(names).contains("Ada"))
    }

    @Test("Dumps and mirrors beside a writer read nothing without the lock")
    func besideWriter() async {
        await #expect(processExitsWith: .success) {
            giveUp(afterSeconds: 300)
            let (names, isOver) = (Protected(["a"]), Protected(false))
            let changes = names.changes(buffering: .newest(3))
            let writer = RunningThread {
                var round = 0
                while !isOver.wrappedValue {
                    round += 1
                    names.wrappedValue = (0..<round % 5).map { "a name \($0) that is too long to be kept inline" }
                }
            }
            for _ in 0..<10_000 {
                _ = dumped(names)
                _ = dumped(changes)
                for child in Mirror(reflecting: names).children { precondition(child.label == "value") }
            }
            isOver.wrappedValue = true
            writer.join()
            withExtendedLifetime(changes) {}
        }
    }

    @Test("Changes show how they are kept, and their iterators nothing")
    func changes() {
        let names = Protected(["Ada"])
        let changes = names.changes(buffering: .newest(3))
        names.append("Grace")
        #expect(Mirror(reflecting: changes).children.map(\.label) == ["buffering"])
        #expect(dumped(changes).contains("newest"))
        #expect(!dumped(changes).contains("Grace"))
        #expect(Mirror(reflecting: changes.makeAsyncIterator()).children.isEmpty)
    }

    @Test("A lock can be dumped", arguments: LockTests.locks)
    func locks(type: any Lock.Type) {
        let lock = type.init()
        lock.lock()
        #expect(!dumped(lock).isEmpty)
        lock.unlock()
    }
}

/// Looks at the protected value while it is described.
private struct Proud: CustomDebugStringConvertible {
    static let shared = Protected(Proud())

    var number = 1

    var debugDescription: String {
        "number \(Proud.shared.number)"
    }
}

private struct Holder {
    let names: Protected<[String]>
}

private func dumped(_ value: some Any) -> String {
    var text = ""
    dump(value, to: &text)
    return text
}
