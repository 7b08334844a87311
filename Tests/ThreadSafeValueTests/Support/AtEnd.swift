//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// Says when it goes away.
final class AtEnd: Sendable {
    private let tell: @Sendable () -> Void

    init(_ tell: @escaping @Sendable () -> Void) {
        self.tell = tell
    }

    deinit {
        tell()
    }
}
