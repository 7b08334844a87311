//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation
import PackagePlugin

/// Copies the sources of the library that are explored, with a few words of them changed.
///
/// The build fails for a change that matches no line, and for an excluded source that is not there: either would leave
/// the exploration without what the change was for.
@main
struct Subject: BuildToolPlugin {
    private static let excluded: Set = [
        // There are doubles of these.
        "AtomicWord", "System", "LibraryTimer", "CommandMistake",
        // What is left out asks for more doubles, and has no part in the line.
        "Continuations+Resuming", "AsyncCommands+Labels", "AwaitCommands", "CommandSchedule+Unavailable",
        "QueueSafeAsyncedValue",
        "QueueSafeContainer+Changes", "QueueSafeContainer+Debugging", "QueueSafeSyncedValue",
        "WaitCommands+Labels",
    ]

    // Commands of `sed`, each a substitution.
    private static let changes = [
        // The hash of a state looks at everything, and nothing leaves the module.
        #"s/(file)?private(\(set\))? //"#,
        #"s/@(inlinable|usableFromInline|_transparent) ?//g"#,
        // A virtual thread has a stack of its own, so what is suspended just waits. The text stays the same.
        #"s/nonisolated\(nonsending\) //"#,
        #"s/ async (->|throws|\{)/ \1/"#,
        #"s/([^.`])\bawait /\1/g"#,
        // Which no function can hide, as one with the same name and type would be another.
        #"s/withUnsafeCurrentTask/withVirtualTask/"#,
        // A block has the name of its lane, and a time-out of a user may come at any moment.
        #"s/lane\.target\.async \{ \[self\]/lane.target.async(of: run) { [self]/"#,
        #"s/LibraryTimer\.set\(at: deadline/LibraryTimer.setForUser(at: deadline/"#,
        // What the calling thread waits as.
        #"s/waiter\.state = Waiter\.State/world.current.waiter = waiter; &/"#,
        // Each look is a step: as many as a scenario asks for.
        #"s/static let looks(InLine|ForMore) = .*/static var looks\1: Int { world.looks }/"#,
        #"s/static let pauses(InLine|ForMore|ForBatch) = .*/static let pauses\1 = 0/"#,
        #"s/static let owedLooks = .*/static let owedLooks = 1/"#,
        #"s/static let spinsBeforeParking = .*/static var spinsBeforeParking: Int { world.looks - 1 }/"#,
        // The last owner of an object has seen what the others did to it.
        #"s/deinit \{/deinit { let before = world.memory.becomeLastOwner(); defer { world.current.view = before };/"#,
        // What a command and its end consist of is used, or changes.
        #"s/var (arrival|takeStep|answer|awaiting): (UInt64|[^U])/@Plain var \1: \2/"#,
        #"s/(self\.)?awaiting\.pointee\./members.awaiting./"#,
        #"s/var finish:/@Plain &/"#,
        // The object that a word keeps is used.
        #"s/(Self|AtomicWord)\.unmanaged\(bits\)(\.takeUnretainedValue|$)/\1.seen(bits)\2/"#,
        #"s/orMake make: \(\) -> Object\) -> Object \{/& unsafe storage.pointee.role = .object/"#,
        #"s/static let batch = .*/static var batch: Int { world.batch }/"#,
    ]

    // All in one command, as it takes all sources to see that a change matches none.
    private static let script = #"""
        changes=$1 folder=$2
        shift 2
        printf '%s\n' "$changes" | while IFS= read -r change; do
            sed -nE "${change}p" "$@" | grep -q '' && continue
            echo "error: Plugins/Subject changes nothing in any source with: $change" >&2
            exit 1
        done || exit 1
        for source; do
            sed -E "$changes" "$source" > "$folder/${source##*/}" || exit 1
        done
        """#

    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let library = context.package.directoryURL.appending(path: "../../Sources/ThreadSafeValue").standardized
        let files = try ["CommandQueue", "Primitives", "QueueSafeValue"].flatMap { folder in
            try FileManager.default.contentsOfDirectory(
                at: library.appending(path: folder),
                includingPropertiesForKeys: nil
            )
        }
        let missing = Self.excluded.subtracting(files.map { $0.deletingPathExtension().lastPathComponent })
        for name in missing.sorted() { Diagnostics.error("Plugins/Subject excludes \(name), which is no source.") }
        let kept = files.filter { !Self.excluded.contains($0.deletingPathExtension().lastPathComponent) }
        let locks = ["Lock", "LockMistake", "LockStorage", "SleeperLine", "SleeperQueue", "WaitGraph", "WordLock"]
        let others = locks.map { library.appending(path: "Lock/\($0).swift") }
        let sources = (kept + others).sorted { $0.path() < $1.path() }
        let folder = context.pluginWorkDirectoryURL
        return [
            .buildCommand(
                displayName: "Copying the sources that are explored",
                executable: URL(filePath: "/bin/sh"),
                arguments: ["-c", Self.script, "sh", Self.changes.joined(separator: "\n"), folder.path()]
                    + sources.map { $0.path() },
                inputFiles: sources,
                outputFiles: sources.map { folder.appending(path: $0.lastPathComponent) }
            )
        ]
    }
}
