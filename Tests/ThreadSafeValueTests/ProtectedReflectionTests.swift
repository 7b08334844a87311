//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Testing
import ThreadSafeValue

@Suite("Reflection")
struct ProtectedReflectionTests {
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
                    names.write((0..<round % 5).map { "a name \($0) that is too long to be kept inline" })
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

private struct Holder {
    let names: Protected<[String]>
}

private func dumped(_ value: some Any) -> String {
    var text = ""
    dump(value, to: &text)
    return text
}
