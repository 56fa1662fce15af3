public import Crypto
import Encodings
public import OpenPGP
import RawStructuredFieldValues

/// Why the signature of an HTTP request is refused.
public enum MessageSignatureError: Error, Equatable, Sendable {
    /// There is no signature.
    case missing
    /// The fields do not have the form of RFC 9421.
    case malformed
    /// There is more than one signature.
    case several
    /// The named parameter is missing, unknown or has a value outside the profile.
    case parameter(String)
    /// The signature does not cover exactly the components of the profile; the value names the component.
    case coverage(String)
    /// The body is not the one whose digest was signed.
    case digest
    /// The signature does not verify.
    case invalid
}

/// The components of a request that a device's signature covers.
///
/// Spec: RFC 9421 §2; docs/protocol/requests.md, *The signature*.
public struct SignedRequest: Sendable {
    /// The method, in upper case.
    public let method: String
    /// The absolute URI: the configured issuer followed by path and query.
    public let targetURI: String
    /// The value of `Content-Digest`; nil for a request without a body.
    public let contentDigest: String?
    /// The value of `Authorization`; nil for a request without one.
    public let authorization: String?

    /// A request with these components.
    public init(method: String, targetURI: String, contentDigest: String?, authorization: String?) {
        self.method = method
        self.targetURI = targetURI
        self.contentDigest = contentDigest
        self.authorization = authorization
    }

    fileprivate var components: [(name: String, value: String)] {
        var components = [("@method", method), ("@target-uri", targetURI)]
        if let contentDigest { components.append(("content-digest", contentDigest)) }
        if let authorization { components.append(("authorization", authorization)) }
        return components
    }
}

/// The parameters of a device's signature.
///
/// Spec: RFC 9421 §2.3.
public struct SignatureParameters: Hashable, Sendable {
    /// The profile's tag.
    ///
    /// Spec: RFC 9421 §2.3, `tag`.
    public static let tag = "countersign"
    /// The profile's algorithm.
    ///
    /// Spec: RFC 9421 §3.3.4.
    public static let algorithm = "ecdsa-p256-sha256"
    private static let label = "sig"
    fileprivate static let nonceLengths = 16...64

    /// When the signature was made, in seconds since 1970.
    public let created: Int64
    /// A value that makes the request unique: 16 to 64 printable ASCII characters.
    public let nonce: String
    /// The enrollment id, or the certificate's fingerprint while enrolling.
    public let keyID: String

    /// Parameters of a new signature.
    public init(created: Int64, nonce: String, keyID: String) {
        self.created = created
        self.nonce = nonce
        self.keyID = keyID
    }

    /// Signs a request.
    ///
    /// - Parameters:
    ///   - request: the components to cover.
    ///   - key: the authentication subkey.
    /// - Returns: the values of `Signature-Input` and `Signature`.
    public func sign(
        _ request: SignedRequest, with key: any SigningKey
    ) async throws -> (input: String, signature: String) {
        let names = request.components.map { "\"\($0.name)\"" }.joined(separator: " ")
        let parameters =
            "(\(names));created=\(created);nonce=\"\(nonce)\";keyid=\"\(keyID)\""
            + ";alg=\"\(Self.algorithm)\";tag=\"\(Self.tag)\""
        let base = SignatureBase(components: request.components, parameters: parameters)
        let signature = try await key.signature(for: SHA256.hash(data: base.bytes))
        return ("\(Self.label)=\(parameters)", "\(Self.label)=:\(Base64.encode(signature.rawRepresentation)):")
    }
}

/// The signature of a request, parsed and not yet verified.
public struct UnverifiedRequestSignature: Sendable {
    /// The parameters.
    public let parameters: SignatureParameters
    private let components: [String]
    private let serializedParameters: String
    private let signature: P256.Signing.ECDSASignature

    /// Reads the two fields of a request, which must hold one signature of the profile.
    ///
    /// - Parameters:
    ///   - input: the value of `Signature-Input`, or nil when the request has none.
    ///   - signature: the value of `Signature`, or nil when the request has none.
    public init(input: String?, signature: String?) throws(MessageSignatureError) {
        guard let input, let signature else { throw .missing }
        if let fields = CanonicalSignatureFields(input: input, signature: signature) {
            self.signature = try Self.ecdsa(fields.signature)
            components = fields.components
            parameters = try Self.parameters {
                fields.texts[$0]
            } created: {
                fields.created
            }
            serializedParameters = fields.serializedParameters
            return
        }
        let inputs = try Self.dictionary(input)
        let signatures = try Self.dictionary(signature)
        guard inputs.count == 1, signatures.count == 1 else { throw .several }
        let (label, value) = inputs[inputs.startIndex]
        guard case .innerList(let list) = value, case .item(let item)? = signatures[label],
            case .undecodedByteSequence(let text) = item.rfc9651BareItem
        else { throw .malformed }
        self.signature = try Self.ecdsa(text)
        components = try Self.components(list)
        parameters = try Self.parameters(list)
        // The signature base holds the parameters in their one serialization, whatever blanks the field had (RFC 9421
        // §2.5).
        var serializer = StructuredFieldValueSerializer()
        guard let bytes = try? serializer.writeListFieldValue([.innerList(list)]) else { throw .malformed }
        serializedParameters = String(decoding: bytes, as: UTF8.self)
    }

    private static func ecdsa(_ text: String) throws(MessageSignatureError) -> P256.Signing.ECDSASignature {
        guard let raw = Base64.decode(text), raw.count == 64,
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: raw)
        else { throw .malformed }
        return signature
    }

    private static func dictionary(_ field: String) throws(MessageSignatureError) -> OrderedMap<String, ItemOrInnerList>
    {
        var parser = StructuredFieldValueParser(Array(field.utf8))
        guard let dictionary = try? parser.parseDictionaryFieldValue() else { throw .malformed }
        return dictionary
    }

    private static func components(_ list: InnerList) throws(MessageSignatureError) -> [String] {
        var names: [String] = []
        for item in list.bareInnerList {
            guard case .string(let name) = item.rfc9651BareItem, item.rfc9651Parameters.count == 0 else {
                throw .malformed
            }
            names.append(name)
        }
        return names
    }

    private static func parameters(_ list: InnerList) throws(MessageSignatureError) -> SignatureParameters {
        let parameters = list.rfc9651Parameters
        for (name, _) in parameters where name != "created" && CanonicalSignatureFields.Name(rawValue: name) == nil {
            throw .parameter(name)
        }
        return try Self.parameters { name in
            if case .string(let text)? = parameters[name.rawValue] { text } else { nil }
        } created: {
            if case .integer(let created)? = parameters["created"] { created } else { nil }
        }
    }

    /// The parameters, checked against the profile.
    private static func parameters(
        text: (CanonicalSignatureFields.Name) -> String?, created: () -> Int64?
    ) throws(MessageSignatureError) -> SignatureParameters {
        // check: MessageSignatureRefusalTests.parameters
        guard text(.tag) == SignatureParameters.tag else { throw .parameter("tag") }
        // check: MessageSignatureRefusalTests.parameters
        guard text(.algorithm) == SignatureParameters.algorithm else { throw .parameter("alg") }
        guard let created = created(), created >= 0 else { throw .parameter("created") }
        guard let nonce = text(.nonce), SignatureParameters.nonceLengths.contains(nonce.utf8.count) else {
            throw .parameter("nonce")
        }
        guard let keyID = text(.keyID) else { throw .parameter("keyid") }
        return SignatureParameters(created: created, nonce: nonce, keyID: keyID)
    }

    /// Throws unless this key made the signature over exactly this request.
    ///
    /// - Parameters:
    ///   - request: the request as it arrived, its URI built from the configured issuer.
    ///   - body: the body, whose digest must be the signed one.
    ///   - key: the authentication subkey of the signer that ``SignatureParameters/keyID`` names.
    public func verify(
        _ request: SignedRequest, body: some Collection<UInt8>, by key: P256.Signing.PublicKey
    ) throws(MessageSignatureError) {
        let expected = request.components
        for (name, _) in expected where !components.contains(name) { throw .coverage(name) }
        var inOrder: [(name: String, value: String)] = []
        for name in components {
            guard let component = expected.first(where: { $0.name == name }) else { throw .coverage(name) }
            inOrder.append(component)
        }
        guard inOrder.count == expected.count else { throw .malformed }
        guard (request.contentDigest == nil) == body.isEmpty else { throw .coverage("content-digest") }
        let base = SignatureBase(components: inOrder, parameters: serializedParameters)
        // check: MessageSignatureRefusalTests.twice
        guard key.isValidSignature(signature, for: SHA256.hash(data: base.bytes)) else { throw .invalid }
        if let digest = request.contentDigest, !ContentDigest.matches(digest, body: body) { throw .digest }
    }
}

/// The text that a signature is made over.
///
/// Spec: RFC 9421 §2.5.
struct SignatureBase {
    let bytes: [UInt8]

    init(components: [(name: String, value: String)], parameters: String) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(1024)
        for (name, value) in components + [("@signature-params", parameters)] {
            if !bytes.isEmpty { bytes.append(0x0A) }
            bytes.append(UInt8(ascii: "\""))
            bytes.append(contentsOf: name.utf8)
            bytes.append(contentsOf: "\": ".utf8)
            bytes.append(contentsOf: value.utf8)
        }
        self.bytes = bytes
    }
}
