//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// What `print` says of a handle: its value, which may lead back to the handle.
enum HandleDescription {
    /// What the handles refer to that were described here, since the description of the first one began.
    @TaskLocal private static var objects: Protected<Set<ObjectIdentifier>>?

    /// Puts the description of the value behind a name, or `…` if that of the first handle has it already: there might be
    /// no end, or one way for each order of the handles.
    static func text(_ name: String, of object: AnyObject, _ describeValue: () -> String) -> String {
        guard let objects else {
            return $objects.withValue(Protected([])) { text(name, of: object, describeValue) }
        }
        let isFirst = objects.write { $0.insert(ObjectIdentifier(object)).inserted }
        return "\(name)(\(isFirst ? describeValue() : "…"))"
    }
}
