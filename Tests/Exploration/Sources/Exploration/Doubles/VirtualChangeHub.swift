//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// The double of those who listen to changes: nobody does.
final class ChangeHub<Value> {
    init(whenListenedTo: @escaping (_ isListenedTo: Bool) -> Void) {}

    struct Delivery {
        func deliver() {}
    }

    func record(_ value: Value) -> Delivery { Delivery() }

    func finish() {}
}
extension ChangeHub: @unchecked Sendable {}
