//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// What the program tells whoever started it.
enum ExitStatus: Int32 {
    /// Everything was counted, and the check agreed.
    case success = 0

    /// The check agreed, but something that was named could not be counted; a line on standard error says why.
    case incomplete = 1

    /// Several threads counted something else than one.
    case countsDiffer = 2

    /// The arguments make no sense. The number is the `EX_USAGE` of `sysexits.h`, as the next is its `EX_SOFTWARE`.
    case usage = 64

    /// The program could not go on: its output has nowhere to go, or a command had no result.
    case failed = 70
}
