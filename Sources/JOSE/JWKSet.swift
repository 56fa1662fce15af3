public import Encodings

/// A set of public keys, each with a different name.
///
/// Spec: RFC 7517 §5.
public struct JWKSet: Sendable {
    /// The most keys that a set may have when it is read.
    public static let maximumCount = 64

    /// The keys.
    public let keys: [JWK]

    /// A set of these keys; of several keys with one name, only the first can be found.
    public init(_ keys: [JWK]) {
        self.keys = keys
    }

    /// Reads a set.
    ///
    /// Unsupported or weak keys are left out, as the specification asks. The whole set is refused if it contains a
    /// malformed key, a private key, or two keys of the same name.
    public init(_ value: JSONValue) throws(JOSEError) {
        guard let elements = value["keys"]?.array else { throw .malformed }
        // check: JWKSetTests.limits
        guard elements.count <= Self.maximumCount else { throw .tooLarge }
        var keys: [JWK] = []
        var names: Set<[UInt8]> = []
        for element in elements {
            do throws(JOSEError) {
                keys.append(try JWK(element))
            } catch .unsupportedKey {
                continue
            } catch .weakKey {
                continue
            }
            // Two keys of one name are refused, because choosing one of them would be a guess.
            guard let name = keys.last?.keyID else { continue }
            // check: JWKSetTests.duplicateNames
            guard names.insert(Array(name.utf8)).inserted else { throw .duplicateKeyID }
        }
        self.keys = keys
    }

    /// The set as JSON.
    public var json: JSONValue { .members(["keys": .array(keys.map(\.json))]) }

    /// The key of this name, or nil.
    public subscript(keyID: String) -> JWK? { keys.first { $0.keyID?.hasSameBytes(as: keyID) == true } }
}
