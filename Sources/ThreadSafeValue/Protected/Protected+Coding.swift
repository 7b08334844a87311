//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

extension Protected: Encodable where Value: Encodable {
    /// Encodes a copy of the value, as if the value stood there without a handle.
    ///
    /// The lock is not held while the copy is encoded.
    ///
    /// - Parameter encoder: The encoder to write to.
    /// - Throws: The error that the value throws when it is encoded.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
    }
}

extension Protected: Decodable where Value: Decodable {
    /// Decodes a value that was encoded without a handle, and protects it.
    ///
    /// - Parameter decoder: The decoder to read from.
    /// - Throws: The error that the value throws when it is decoded.
    public init(from decoder: any Decoder) throws { self.init(try decoder.singleValueContainer().decode(Value.self)) }
}

// The compiler calls these methods for `@Protected var name: String?`. The key of an optional that is `nil` may be missing.

extension KeyedEncodingContainer {
    /// Encodes a protected optional, unless it is `nil`.
    ///
    /// - Parameters:
    ///   - value: The protected optional.
    ///   - key: The key for the optional.
    /// - Throws: The error that the value throws when it is encoded.
    public mutating func encode<Value: Encodable>(_ value: Protected<Value?>, forKey key: Key) throws {
        try encodeIfPresent(value.wrappedValue, forKey: key)
    }
}

extension KeyedDecodingContainer {
    /// Decodes an optional, which is `nil` if its key is missing, and protects it.
    ///
    /// - Parameters:
    ///   - type: The type of the handle.
    ///   - key: The key for the optional.
    /// - Returns: A handle for the optional.
    /// - Throws: The error that the value throws when it is decoded.
    public func decode<Value: Decodable>(_ type: Protected<Value?>.Type, forKey key: Key) throws -> Protected<Value?> {
        Protected(try decodeIfPresent(Value.self, forKey: key))
    }
}
