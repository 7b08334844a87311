//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// Does something when it goes away.
final class Last: Sendable {
    private let whenGone: @Sendable () -> Void

    init(whenGone: @escaping @Sendable () -> Void) {
        self.whenGone = whenGone
    }

    deinit {
        whenGone()
    }
}
