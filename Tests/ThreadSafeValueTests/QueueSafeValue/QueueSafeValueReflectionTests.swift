//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Dispatch
import Testing
import ThreadSafeValue

@Suite("Reflection of queue-safe values")
struct QueueSafeValueReflectionTests {
    struct Node: Sendable {
        let siblings: QueueSafeValue<[Node]>
    }

    @Test("A copy of the value, or that it is in use; also of what stands in other values")
    func shown() {
        let value = QueueSafeValue(value: ["a"])
        #expect(text(value).contains("\"a\""))
        #expect(text(QueueSafeSyncedValue(value: 7)).contains("7"))
        #expect(text(QueueSafeAsyncedValue(value: 8, queue: .main)).contains("8"))
        value.wait.lowestPriority.set { _ in
            #expect(text(value).contains("in use"))
            #expect(text([value]).contains("in use"))
        }
        #expect(!text(value.wait).contains("\"a\""))
        #expect(!text(value.wait.lowestPriority).contains("\"a\""))
        #expect(!text(value.async(performIn: .main)).contains("\"a\""))
        #expect(value.wait.lowestPriority.get() == .success(["a"]))
    }

    @Test("The description shows a copy of the value, or that it is in use, and ends where the value leads back to it")
    func described() {
        #expect("\(QueueSafeValue(value: ["a"]))" == #"QueueSafeValue(["a"])"#)
        #expect("\(QueueSafeSyncedValue(value: 7))" == "QueueSafeSyncedValue(7)")
        #expect("\([QueueSafeAsyncedValue(value: 8, queue: .main)])" == "[QueueSafeAsyncedValue(8)]")
        let value = QueueSafeValue(value: 0)
        #expect(value.wait.lowestPriority.map { _ in "\(value)" } == .success("QueueSafeValue(in use)"))
        value.suspend()
        #expect("\(value)" == "QueueSafeValue(in use)")
        value.resume()
        let nodes = QueueSafeValue(value: [Node]())
        nodes.wait.lowestPriority.set(newValue: [Node(siblings: nodes)])
        #expect("\(nodes)" == "QueueSafeValue([\(String(reflecting: Node.self))(siblings: QueueSafeValue(…))])")
        nodes.wait.lowestPriority.set(newValue: [])
    }

    /// The queue lets go of a command's lane, and more, while the handle is there.
    @Test("The state of a command, and nothing of the command, whether it waits, is over or was cancelled")
    func handles() {
        let queue = DispatchQueue(label: "target")
        let value = QueueSafeValue(value: 0)
        let over = value.async(performIn: queue).lowestPriority.set { $0 += 1 }
        queue.sync {}
        value.suspend()
        let cancelled = value.async(performIn: queue).lowestPriority.set { $0 += 1 }
        cancelled.cancel()
        let waiting = value.async(performIn: queue).lowestPriority.set { $0 += 1 }
        #expect(text(over).contains("finished"))
        #expect(text(cancelled).contains("cancelled"))
        #expect(text([waiting]).contains("waiting"))
        value.resume()
    }

    @Test("Dumped 20,000 times beside a writer, everything that can be dumped")
    func besideAWriter() throws {
        let (dumps, updates) = try inTime {
            let value = QueueSafeValue(value: [Int](repeating: 0, count: 8))
            let synced = QueueSafeSyncedValue(value: "")
            let queue = DispatchQueue(label: "target")
            let handle = Protected(false)
            let writer = RunningThread {
                var updates = 0
                while !handle.wrappedValue {
                    value.wait.lowestPriority.set { $0 = Array(repeating: updates, count: 8) }
                    synced.lowestPriority.set(newValue: String(repeating: "x", count: 20 + updates % 20))
                    updates += 1
                }
            }
            var dumps = 0
            let count = isSanitized ? 2_000 : 20_000
            for _ in 0..<count {
                let command = value.async(performIn: queue).lowestPriority.set { _ in }
                let things: [Any] = [value, synced, value.wait, value.wait.lowestPriority, value.changes(), command]
                dumps += text(things[dumps % things.count]).isEmpty ? 0 : 1
            }
            handle.wrappedValue = true
            writer.join()
            return (dumps, count)
        }
        #expect(dumps == updates)
    }

    private func text(_ thing: Any) -> String {
        var text = ""
        dump(thing, to: &text)
        return text
    }
}
