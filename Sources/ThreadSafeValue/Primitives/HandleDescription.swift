//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

/// What `print` says of a handle: its value, which may lead back to the handle.
enum HandleDescription {
    /// What the handles refer to that are being described here.
    @TaskLocal private static var objects: Set<ObjectIdentifier> = []

    /// Puts the description of the value behind a name, or `…` in the description of the same object: there would be no
    /// end.
    static func text(_ name: String, of object: AnyObject, _ describeValue: () -> String) -> String {
        let object = ObjectIdentifier(object)
        if objects.contains(object) { return "\(name)(…)" }
        return "\(name)(\($objects.withValue(objects.union([object]), operation: describeValue)))"
    }
}
