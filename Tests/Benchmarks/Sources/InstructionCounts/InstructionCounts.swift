//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import CMachine
import Foundation
import ThreadSafeValue

/// Does one thing many times, for a tool that counts what the processor executes.
///
///     InstructionCounts [NAME COUNT]
///
/// Without arguments it prints the names. Nothing competes: a tool of that kind runs one thread at a time.
@main
struct InstructionCounts {
    static func main() {
        guard CommandLine.arguments.count == 3, let count = Int(CommandLine.arguments[2]) else {
            return print(paths.map(\.name).joined(separator: "\n"))
        }
        // The C library has short cuts for a process of one thread.
        let thread = Thread { while true { sleep(1_000) } }
        thread.start()
        paths.first { $0.name == CommandLine.arguments[1] }!.run(count)
    }

    // Made by others, as far as the compiler sees: it counts the references to a value that it has not seen made.
    private static let queueSafe = QueueSafeValue(value: 0)
    private static let protected = Protected(0)
    private static let state = State()
    private static let others = (Protected(0), Protected(0))
    private static let listened = Protected(0)
    private static let changes = listened.changes
    private static let names = Protected(["a": 1, "b": 2, "c": 3])

    private static let paths: [(name: String, run: @Sendable (Int) -> Void)] = [
        ("loop", { loop($0) }),
        ("wait.highestPriority.set{}", { set(queueSafe, $0) }),
        ("wait.highestPriority.get()", { get(queueSafe, $0) }),
        ("Protected.read{}", { read(protected, $0) }),
        ("Protected.write{}", { write(protected, $0) }),
        ("one-Protected.write{}", { writeByCalls(protected, $0) }),
        ("Protected(0).write{},end", { live($0) }),
        ("@Protected+=1", { add(to: state, $0) }),
        ("$model.count+=1", { addToMember(of: state, $0) }),
        ("Protected.read{},listened", { count in withExtendedLifetime(changes) { read(listened, count) } }),
        ("Protected.write{},listened", { count in withExtendedLifetime(changes) { write(listened, count) } }),
        ("dictionary.read{$0[]}", { look(into: names, $0) }),
        ("withLocked(2)", { withTwo(protected, others.0, $0) }),
        ("withLocked(3)", { withThree(protected, others.0, others.1, $0) }),
    ]
}

// `machine_use` stands for other work that the compiler does not see; it is in `loop` too, which is subtracted.
extension InstructionCounts {
    @inline(never)
    private static func loop(_ count: Int) {
        for index in 0..<count { machine_use(Int64(index)) }
    }

    @inline(never)
    private static func set(_ value: QueueSafeValue<Int>, _ count: Int) {
        for index in 0..<count {
            value.wait.highestPriority.set { $0 &+= 1 }
            machine_use(Int64(index))
        }
    }

    @inline(never)
    private static func get(_ value: QueueSafeValue<Int>, _ count: Int) {
        for _ in 0..<count {
            if case .success(let number) = value.wait.highestPriority.get() { machine_use(Int64(number)) }
        }
    }

    @inline(never)
    private static func read(_ value: Protected<Int>, _ count: Int) {
        for _ in 0..<count { machine_use(Int64(value.read { $0 })) }
    }

    @inline(never)
    private static func write(_ value: Protected<Int>, _ count: Int) {
        for index in 0..<count {
            value.write { $0 &+= 1 }
            machine_use(Int64(index))
        }
    }

    @inline(never)
    private static func look(into names: Protected<[String: Int]>, _ count: Int) {
        for _ in 0..<count { machine_use(Int64(names.read { $0["b"] ?? 0 })) }
    }

    @inline(never)
    private static func withTwo(_ first: Protected<Int>, _ second: Protected<Int>, _ count: Int) {
        for index in 0..<count {
            withLocked(first, second) { first, second in
                first &+= 1
                second &+= 1
            }
            machine_use(Int64(index))
        }
    }

    @inline(never)
    private static func withThree(
        _ first: Protected<Int>,
        _ second: Protected<Int>,
        _ third: Protected<Int>,
        _ count: Int
    ) {
        for index in 0..<count {
            withLocked(first, second, third) { first, second, third in
                first &+= 1
                second &+= 1
                third &+= 1
            }
            machine_use(Int64(index))
        }
    }

    // Nothing can be taken out of the loop, and nothing of one turn is known in the next.
    @inline(never)
    private static func writeByCalls(_ value: Protected<Int>, _ count: Int) {
        for index in 0..<count {
            writeOnce(value)
            machine_use(Int64(index))
        }
    }

    @inline(never)
    private static func writeOnce(_ value: Protected<Int>) {
        value.write { $0 &+= 1 }
    }

    @inline(never)
    private static func live(_ count: Int) {
        for index in 0..<count {
            let value = Protected(index)
            value.write { $0 &+= 1 }
            machine_use(Int64(index))
        }
    }

    @inline(never)
    private static func add(to state: State, _ count: Int) {
        for index in 0..<count {
            state.count += 1
            machine_use(Int64(index))
        }
    }

    @inline(never)
    private static func addToMember(of state: State, _ count: Int) {
        for index in 0..<count {
            state.$model.count += 1
            machine_use(Int64(index))
        }
    }
}

private struct State: Sendable {
    @Protected var count = 0
    @Protected var model = Model()
}

private struct Model: Sendable {
    var count = 0
    var name = ""
}
