//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// The text that `print` shows for a handle: its value, which may lead back to the handle.
///
/// A thread-local variable says which handles were described, and not a task-local value. Binding a task-local value
/// waits for a running `onCancel` of the task, which may wait for the printing thread.
enum HandleDescription {
    /// The storages that were described since the description of the first handle began. They are kept, so that no other
    /// object gets the address of one of them.
    private final class Described { var objects: [ObjectIdentifier: AnyObject] = [:] }

    private static let local = ThreadLocal<Described>()

    /// Puts the description of the value behind a name, or `…` if the description of the first handle has the value
    /// already. Otherwise the text might have no end, or might repeat the value for each order of the handles.
    static func text(_ name: String, of object: AnyObject, _ describeValue: () -> String) -> String {
        guard let described = local.object else {
            let described = Described()
            local.object = described
            defer { local.object = nil }
            return text(name, of: object, describeValue)
        }
        let isFirst = described.objects.updateValue(object, forKey: ObjectIdentifier(object)) == nil
        return "\(name)(\(isFirst ? describeValue() : "…"))"  // fault: a description has no end
    }
}
