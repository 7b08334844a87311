//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation

// Counts the words of text files on several threads. To learn the library from it, read `Counting` in this order:
//
// 1. `SharedCounts` and `WorkList`: what several threads change, each a `@Protected` property.
// 2. `ReportDesk`: a `QueueSafeValue`, where urgent questions overtake routine work.
// 3. `WordCounter`: the threads that use all three.
//
// `Program` is the run from beginning to end; `Input` and `Output` know nothing of threads.
exit(Program(arguments: CommandLine.arguments.dropFirst()).run().rawValue)
