//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

import Foundation

/// Which thread this is.
enum ThreadID {
    static var current: ObjectIdentifier {
        ObjectIdentifier(Thread.current)
    }
}
