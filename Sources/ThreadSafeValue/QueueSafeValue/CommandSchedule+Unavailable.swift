//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

// A command needs a schedule and a priority. These declarations make the compiler say what to write instead.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

@available(*, unavailable, message: "A command needs a priority. Write `lowestPriority.set { … }`.")
extension CommandSchedule {
    public func get(_: Any...) -> Result<Any, QueueSafeValueError> { fatalError() }
    public func set(newValue: some Equatable) {}
    public func set<Value>(_: (inout Value) throws -> Void) where Commands == WaitCommands<Value> {}
    public func set<Value>(_: (inout Value) throws -> Void) where Commands == AsyncCommands<Value> {}
    public func set<Value>(_: (inout Value) async throws -> Void) async where Commands == AwaitCommands<Value> {}
}

@available(*, unavailable, message: "A command needs a schedule too. Write `value.wait.lowestPriority.set { … }`.")
extension QueueSafeValue {
    public func get(_: Any...) -> Result<Value, QueueSafeValueError> { fatalError() }
    public func set(newValue: Value) {}
    public func set(_: (inout Value) throws -> Void) {}
}
