//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation
import PackagePlugin

/// Copies the sources of the library that are explored, with a few words of them changed.
@main
struct Subject: BuildToolPlugin {
    private static let excluded: Set = [
        // There are doubles of these.
        "AtomicWord", "ThreadLocal", "LibraryTimers", "CommandMistake",
        // What is left out asks for more doubles, and has no part in the line.
        "Continuations+Resuming", "AsyncCommands+Labels", "AwaitCommands", "QueueSafeAsyncedValue",
        "QueueSafeContainer+Changes", "QueueSafeContainer+Debugging", "QueueSafeSyncedValue",
        "WaitCommands+Labels",
    ]

    private static let changes = [
        // The hash of a state looks at everything, and nothing leaves the module.
        #"s/(file)?private(\(set\))? //; s/@(inlinable|usableFromInline|_transparent) ?//g"#,
        // A virtual thread has a stack of its own, so what is suspended just waits. The text stays the same.
        #"s/nonisolated\(nonsending\) //; s/ async (->|throws|\{)/ \1/; s/([^.`])\bawait /\1/g"#,
        // Which no function can hide, as one with the same name and type would be another.
        #"s/withUnsafeCurrentTask/withVirtualTask/"#,
        // A block has the name of its lane.
        #"s/target\.async \{ \[self\]/target.async(of: self) { [self]/"#,
        // What the calling thread waits as.
        #"s/waiter\.state = Waiter\.State/world.current.waiter = waiter; &/"#,
        #"s/word\.loadAcquiring\(\)\)\.holder/word.loadHanded()).holder/"#,
        // Each look is a step: as many as a scenario asks for.
        #"s/for _ in 0\.\.<[0-9]+/for _ in 0..<world.looks/"#,
        #"s/static let spinsBeforeParking = .*/static var spinsBeforeParking: Int { world.looks - 1 }/"#,
        // The last owner of an object has seen what the others did to it.
        #"s/deinit \{/deinit { let before = world.memory.becomeLastOwner(); defer { world.current.view = before }/"#,
        // The object that a word keeps is used.
        #"s/(Self|AtomicWord)\.unmanaged\(bits\)(\.takeUnretainedValue|$)/\1.seen(bits)\2/"#,
        #"s/orMake make: \(\) -> Object\) -> Object \{/& unsafe storage.pointee.role = .object/"#,
        #"s/static let batch = .*/static var batch: Int { world.batch }/"#,
    ]

    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let library = context.package.directoryURL.appending(path: "../../Sources/ThreadSafeValue").standardized
        let folders = try ["CommandQueue", "Primitives", "QueueSafeValue"].flatMap { folder in
            try FileManager.default.contentsOfDirectory(
                at: library.appending(path: folder),
                includingPropertiesForKeys: nil
            )
        }
        let sources = folders.filter { !Self.excluded.contains($0.deletingPathExtension().lastPathComponent) }
        let locks = ["Lock", "LockMistake", "LockStorage", "SleeperLine", "SleeperQueue", "WaitGraph", "WordLock"]
        let others = locks.map { library.appending(path: "Lock/\($0).swift") }
        return (sources + others).map { source in
            let copy = context.pluginWorkDirectoryURL.appending(path: source.lastPathComponent)
            return .buildCommand(
                displayName: "Copying \(source.lastPathComponent)",
                executable: URL(filePath: "/bin/sh"),
                arguments: [
                    "-c", #"sed -E "$1" "$2" > "$3""#, "sh", Self.changes.joined(separator: ";"), source.path(),
                    copy.path(),
                ],
                inputFiles: [source],
                outputFiles: [copy]
            )
        }
    }
}
