//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

#if os(macOS) || os(Linux)
import Foundation
import Testing

/// The program as its user sees it: built, launched, and judged by what it writes and how it exits.
@Suite("WordCount, launched")
struct ProgramTests {
    private let scratch = try! Scratch()

    @Test("Words of several files add up, in upper and lower case; the check passes")
    func adds() throws {
        try scratch.file("a.txt", "One two TWO, thrée-thrée: thrée!")
        try scratch.file("sub/b.md", "two\n")
        let run = try Launch(scratch.folder.path)
        #expect(run.status == 0)
        #expect(run.errors.isEmpty)
        #expect(try #require(run.row("two")) == (3, 2))
        #expect(try #require(run.row("thrée")) == (3, 1))
        #expect(try #require(run.row("one")) == (1, 1))
        #expect(run.output.contains("7 words, 3 different, in 2 files."))
        #expect(run.output.contains("Check passed"))
    }

    @Test("Without arguments, the documents of the package in the current folder are counted")
    func countsPackage() throws {
        try scratch.file("Package.swift", "let package = 0")
        try scratch.file("README.md", "package package")
        try scratch.file(".build/hidden.md", "hidden")
        let run = try Launch(in: scratch.folder)
        #expect(run.status == 0)
        #expect(run.output.contains("2 words, 1 different, in 1 file."))
    }

    @Test("Without arguments and far from any package, the program's own package is counted")
    func countsOwnPackage() throws {
        let run = try Launch(in: scratch.folder)
        #expect(run.status == 0)
        #expect(run.row("the") != nil)
    }

    @Test("A file is counted once, also if it is named twice, or by a link, or lies in a folder that is named")
    func countsOnce() throws {
        try scratch.file("sub/a.txt", "word")
        try scratch.link("link", to: "sub/a.txt")
        let run = try Launch(scratch.path("sub/a.txt"), scratch.path("link"), scratch.path("sub/../sub"))
        #expect(run.status == 0)
        #expect(run.output.contains("1 word, 1 different, in 1 file."))
    }

    @Test("What cannot be counted is one line each on standard error; the rest is counted; the status is 1")
    func goesOn() throws {
        try scratch.file("good.txt", "good")
        try scratch.file("zero.bin", [0x61, 0, 0x62])
        try scratch.file("latin1.txt", [0x63, 0x61, 0x66, 0xE9])
        try scratch.link("loop", to: "loop")
        let run = try Launch(
            scratch.path("missing"),
            scratch.path("zero.bin"),
            scratch.path("good.txt"),
            scratch.path("latin1.txt"),
            scratch.path("loop"),
            "/dev/null",
            ""
        )
        #expect(run.status == 1)
        #expect(
            run.errors.sorted()
                == [
                    "WordCount: \"\": no such file or folder",
                    "WordCount: /dev/null: neither a file nor a folder",
                    "WordCount: \(scratch.path("latin1.txt")): not text",
                    "WordCount: \(scratch.path("loop")): a symbolic link to nowhere",
                    "WordCount: \(scratch.path("missing")): no such file or folder",
                    "WordCount: \(scratch.path("zero.bin")): not text",
                ].sorted()
        )
        #expect(run.output.contains("1 word, 1 different, in 1 file."))
        #expect(run.output.contains("Check passed"))
    }

    @Test("What may not be read is one line each", .enabled(if: geteuid() != 0, "root may read all"))
    func obeysPermissions() throws {
        try scratch.file("secret.txt", "secret")
        try scratch.file("locked/a.txt", "locked")
        let files = FileManager.default
        try files.setAttributes([.posixPermissions: 0], ofItemAtPath: scratch.path("secret.txt"))
        try files.setAttributes([.posixPermissions: 0], ofItemAtPath: scratch.path("locked"))
        defer { try? files.setAttributes([.posixPermissions: 0o700], ofItemAtPath: scratch.path("locked")) }
        let run = try Launch(scratch.folder.path)
        #expect(run.status == 1)
        #expect(run.errors.count == 2)
        #expect(run.errors.allSatisfy { $0.hasSuffix("permission denied") })
    }

    @Test("In a folder, what is not text, hidden or a link is passed over")
    func passesOver() throws {
        try scratch.file("dir/a.txt", "word")
        try scratch.file("dir/film", [0, 1, 2])
        try scratch.file("dir/.hidden", "hidden")
        try scratch.link("dir/up", to: "..")
        let run = try Launch(scratch.path("dir"))
        #expect(run.status == 0)
        #expect(run.errors.isEmpty)
        #expect(run.output.contains("1 word, 1 different, in 1 file."))
        #expect(run.output.contains("Passed over, as not text: 1 file."))
    }

    @Test("An empty file is text without words; an empty folder is nothing to count")
    func acceptsNothing() throws {
        try scratch.file("empty.txt", "")
        let file = try Launch(scratch.path("empty.txt"))
        #expect(file.status == 0)
        #expect(file.output.contains("0 words, 0 different, in 1 file."))
        try FileManager.default.createDirectory(atPath: scratch.path("dir"), withIntermediateDirectories: true)
        let folder = try Launch(scratch.path("dir"))
        #expect(folder.status == 1)
        #expect(folder.errors == ["WordCount: there are no files to count"])
    }

    @Test("A name that would break the line is quoted")
    func quotesNames() throws {
        let run = try Launch("two\nlines")
        #expect(run.errors.first == #"WordCount: "two\nlines": no such file or folder"#)
    }

    @Test("--help explains; an unknown option is a usage error; after -- it is a name")
    func readsOptions() throws {
        let help = try Launch("--help")
        #expect(help.status == 0)
        #expect(help.output.hasPrefix("Usage: WordCount"))
        let unknown = try Launch("--nope")
        #expect(unknown.status == 64)
        #expect(unknown.errors == ["WordCount: unknown option --nope (--help says more)"])
        #expect(unknown.output.isEmpty)
        try scratch.file("--nope", "word")
        #expect(try Launch("--", "--nope", in: scratch.folder).status == 0)
    }

    #if os(Linux)
    @Test("A count that differs from that of one thread is status 2: here the file changes with each reading")
    func failsCheck() throws {
        let run = try Launch("/proc/sys/kernel/random/uuid")
        #expect(run.status == 2)
        #expect(run.output.contains("Check failed"))
    }
    #endif
}
#endif
