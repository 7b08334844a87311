//
// Part of ThreadSafeValue. SPDX-License-Identifier: MIT
//

extension Protected: Encodable where Value: Encodable {
    /// Encodes a copy of the value, as if it stood there itself. The lock is not held meanwhile.
    ///
    /// - Parameter encoder: Where to.
    /// - Throws: What encoding the value throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
    }
}

extension Protected: Decodable where Value: Decodable {
    /// Decodes a value, as if it stood there itself, and protects it.
    ///
    /// - Parameter decoder: Where from.
    /// - Throws: What decoding the value throws.
    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(Value.self))
    }
}

// The compiler calls these for `@Protected var name: String?`: the key of an optional that is `nil` may be missing.

extension KeyedEncodingContainer {
    /// Encodes an optional that is protected, unless it is `nil`.
    ///
    /// - Parameters:
    ///   - value: The protected optional.
    ///   - key: Its key.
    /// - Throws: What encoding the value throws.
    public mutating func encode<Value: Encodable>(_ value: Protected<Value?>, forKey key: Key) throws {
        try encodeIfPresent(value.wrappedValue, forKey: key)
    }
}

extension KeyedDecodingContainer {
    /// Decodes an optional to protect, which is `nil` if its key is missing.
    ///
    /// - Parameters:
    ///   - type: The type of the handle.
    ///   - key: The key of the optional.
    /// - Returns: A handle of it.
    /// - Throws: What decoding the value throws.
    public func decode<Value: Decodable>(_ type: Protected<Value?>.Type, forKey key: Key) throws -> Protected<Value?> {
        Protected(try decodeIfPresent(Value.self, forKey: key))
    }
}
