//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import ThreadSafeValue

/// The mistakes that tests make, which write nothing to standard error.
enum Mistakes {
    private static let log: Log<CommandMistake> = {
        let log = Log<CommandMistake>()
        CommandMistake.report(to: { log.add($0) })
        return log
    }()

    /// From now on mistakes are noted here.
    static func keepQuiet() {
        _ = log
    }

    /// Those with values of a type, which a test has for itself.
    static func with(_ valueType: any Any.Type) -> [CommandMistake] {
        log.entries.filter { $0.valueType == valueType }
    }
}
