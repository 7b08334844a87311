//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation

// Loads the pages whose URLs are given, or some of a server of its own, with a reset in the middle.

let pages = Pages(CommandLine.arguments.dropFirst())
for complaint in pages.complaints { say(complaint) }
if pages.urls.isEmpty { exit(1) }
let allAreLoaded = Demo(pages.urls).run()
exit(allAreLoaded && pages.complaints.isEmpty ? 0 : 1)
