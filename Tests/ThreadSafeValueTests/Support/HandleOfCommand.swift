//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import ThreadSafeValue

/// What a submission returns, for tests that must store it.
typealias HandleOfCommand = CommandHandle
