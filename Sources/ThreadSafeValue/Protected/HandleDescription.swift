//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// What `print` says of a handle: its value, which may lead back to the handle.
///
/// The thread knows what was described, and not the task: to bind a task-local value waits for an `onCancel` of the
/// task that runs, and that may wait for who prints.
enum HandleDescription {
    /// What the handles refer to that were described, since the description of the first one began. They are kept, so
    /// that no other comes to where they were.
    private final class Described {
        var objects: [ObjectIdentifier: AnyObject] = [:]
    }

    private static let local = ThreadLocal<Described>()

    /// Puts the description of the value behind a name, or `…` if that of the first handle has it already: there might
    /// be no end, or one way for each order of the handles.
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
