//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// What the arguments ask for.
enum Request: Equatable {
    /// To explain the program.
    case help

    /// To count the words in these files and folders; in the package's own documents if there are none.
    case count([String])
}

extension Request {
    /// Reads the arguments; all that begin with a dash are options, up to `--`.
    init(arguments: [String]) throws(UsageError) {
        var paths: [String] = []
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "-h", "--help":
                self = .help
                return
            case "--":
                paths += rest
                rest = []
            case _ where argument.hasPrefix("-") && argument != "-":
                throw UsageError("unknown option \(argument.shown)")
            default:
                paths.append(argument)
            }
        }
        self = .count(paths)
    }

    /// What `--help` prints.
    static let usage = """
        Usage: WordCount [--help] [--] [file or folder ...]

        Counts the words of text files on several threads, shows the most frequent ones, and
        checks the result against a count on one thread. Without arguments it counts the
        documents of the package that it belongs to.

        In a folder, what is hidden, a symbolic link, or not text is passed over. A file is text
        if it is UTF-8 without a zero byte, and is counted once, however often it is named. A
        word is a run of letters and digits, but no number; upper and lower case are the same.

        Exit status: 0 if all went well; 1 if something could not be counted, and a line on
        standard error says why; 2 if the check failed; 64 if the arguments make no sense;
        70 if the program could not go on.
        """
}

/// Why the arguments make no sense.
struct UsageError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
