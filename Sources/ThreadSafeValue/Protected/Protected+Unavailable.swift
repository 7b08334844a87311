//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// A handle does not have the methods of its value. These declarations of the most common ones make the compiler say what
// to write instead.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

@available(*, unavailable, message: "A handle has no methods of its value. Write `handle.write { $0.removeAll() }`.")
extension Protected where Value: Collection {
    public func removeAll(keepingCapacity: Bool = false) {}
    public func removeAll(where _: (Value.Element) throws -> Bool) rethrows {}
    public func removeValue<Key>(forKey _: Key) {}
    public func removeFirst() -> Value.Element { fatalError() }
    public func remove(_: Value.Element) {}
    public func remove(at _: Value.Index) -> Value.Element { fatalError() }
    public func insert(_: Value.Element) {}
    public func insert(_: Value.Element, at _: Value.Index) {}
    public func sort() {}
}

@available(*, unavailable, message: "A handle has no methods of its value. Write `handle.read { $0.map { … } }`.")
extension Protected where Value: Collection {
    public func map<Result>(_: (Value.Element) throws -> Result) rethrows -> [Result] { [] }
    public func filter(_: (Value.Element) throws -> Bool) rethrows -> [Value.Element] { [] }
    public func contains(_: Value.Element) -> Bool { false }
    public func contains(where _: (Value.Element) throws -> Bool) rethrows -> Bool { false }
    public func first(where _: (Value.Element) throws -> Bool) rethrows -> Value.Element? { nil }
    public func joined(separator _: String = "") -> String { "" }
}
