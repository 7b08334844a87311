//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import CMachine
import Dispatch
import Foundation
import Members
import ThreadSafeValue

/// Calls one method many times, for a tool that counts what the processor executes.
///
///     InstructionCounts [NAME COUNT]
///
/// Without arguments it prints the names, and beside each how many calls are enough to tell one instruction of a call
/// from the noise, or one in a thousand. Nothing competes: a tool of that kind runs one thread at a time.
@main
struct InstructionCounts {
    static func main() {
        guard CommandLine.arguments.count == 3, let count = Int(CommandLine.arguments[2]) else {
            for path in paths { print(path.name, path.calls) }
            return
        }
        // The C library has short cuts for a process of one thread.
        let thread = Thread { while true { sleep(1_000) } }
        thread.start()
        paths.first { $0.name == CommandLine.arguments[1] }!.run(count)
    }

    private static let paths = [
        // Subtracted from the others.
        change("call", Empty.self),
        change("wait.highestPriority.set{}", HighestPriority.self),
        change("wait.lowestPriority.set{}", LowestPriority.self),
        read("wait.highestPriority.get()", HighestPriority.self),
        read("wait.highestPriority.map{}", Mapped.self),
        change("wait(timeout:).set{}", TimedWait.self),
        change("synced.highestPriority.set{}", Synced.self),
        change("global.set{}", GlobalValue.self),
        change("kept-commands.set{}", KeptCommands.self),
        change("set{current,done}", ManualCompletion.self),
        submit("async.set{}", AsyncSet.self),
        submit("async.set{}completion:{}", AsyncSetCompletion.self),
        submit("async.set{current,done}", AsyncSetDone.self),
        change("await-async.set{}", AwaitedSet.self),
        read("Protected.read{}", ProtectedNumber.self),
        change("Protected.write{}", ProtectedNumber.self),
        change("@Protected+=1", WrappedNumber.self),
        read("$model.count", MemberOfModel.self),
        change("$model.count=1", ReplacedMember.self),
        change("$model.count+=1", MemberOfModel.self),
        change("$list[0]+=1", WrappedElement.self),
        change("generic-box,Protected.write{}", GenericProtected.self),
        read("generic-box,Protected:set,get", GenericProtected.self),
        change("generic-box,wait.set{}", GenericQueueSafe.self),
        read("generic-list,handle.count", GenericProtectedList.self),
        read("large-structure.read{}", ProtectedSession.self),
        read("dictionary.read{$0[]}", ProtectedEntry.self),
        change("Protected(0).write{},end", ShortLife.self),
        read("Protected.read{},listened", Listened.self),
        change("Protected.write{},listened", Listened.self),
        change("wait.set{},listened", ListenedTurns.self),
        change("withLocked(2),queue-safe", TwoTurns.self),
        change("withLocked(2)", TwoLocked.self),
        change("withLocked(3)", ThreeLocked.self),
        change("withLocked([10])", ListLocked.self, calls: 4_000),
        // For comparison.
        change("Mutex.withLock{}", MutexNumber.self),
        read("Mutex.withLock{$0[]}", MutexEntry.self),
        change("generic-box,Mutex.withLock{}", GenericMutex.self),
        read("generic-box,Mutex:set,get", GenericMutex.self),
        change("await-actor", ActorNumber.self),
        submit("queue.async{withLock{}}", BlockWithLock.self),
        submit("queue.async{withLock{}completion()}", BlockWithLockCompletion.self),
    ]
}

/// What is called, and how often.
private struct Path: Sendable {
    let name: String
    let calls: Int
    let run: @Sendable (Int) -> Void
}

// The loops. `machine_use` stands for other work that the compiler does not see.
extension InstructionCounts {
    private static func change<Form: Changing>(_ name: String, _ form: Form.Type, calls: Int = 100_000) -> Path {
        Path(name: name, calls: calls) { count in
            let member = Form()
            for index in 0..<count {
                member.change()
                machine_use(Int64(index))
            }
        }
    }

    private static func change<Form: Awaiting>(_ name: String, _ form: Form.Type) -> Path {
        Path(name: name, calls: 100_000) { count in
            let end = DispatchSemaphore(value: 0)
            Task {
                let member = Form()
                for index in 0..<count {
                    await member.change()
                    machine_use(Int64(index))
                }
                end.signal()
            }
            end.wait()
        }
    }

    private static func read<Form: Reading>(_ name: String, _ form: Form.Type) -> Path {
        Path(name: name, calls: 100_000) { count in
            let member = Form()
            for _ in 0..<count { machine_use(Int64(member.read())) }
        }
    }

    /// Submits to a queue that is suspended, and then lets it run, so that each run of the program does the same.
    private static func submit<Form: Submitting>(_ name: String, _ form: Form.Type) -> Path {
        Path(name: name, calls: 4_000) { count in
            let queue = DispatchQueue(label: "target")
            let member = Form(to: queue)
            let end = DispatchSemaphore(value: 0)
            queue.suspend()
            for index in 0..<count {
                member.submit(1)
                machine_use(Int64(index))
            }
            member.submitLast { end.signal() }
            queue.resume()
            end.wait()
        }
    }
}
