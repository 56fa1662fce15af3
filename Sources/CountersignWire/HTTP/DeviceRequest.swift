public import Crypto

/// A request with the signature of a device, which is not yet verified.
public struct DeviceRequest: DeviceProof {
    /// The signature's fields.
    public let signature: UnverifiedRequestSignature
    /// What the signature covers, as it arrived.
    public let request: SignedRequest
    /// The body.
    public let body: [UInt8]

    /// A request of these parts.
    public init(signature: UnverifiedRequestSignature, request: SignedRequest, body: [UInt8]) {
        self.signature = signature
        self.request = request
        self.body = body
    }

    /// Whose key the signature says it was made by.
    public var keyID: String { signature.parameters.keyID }
    /// When the signature says it was made, in seconds since 1970.
    public var created: Int64 { signature.parameters.created }
    /// The signature's nonce.
    public var nonce: String { signature.parameters.nonce }

    /// Throws unless the signature is this key's over exactly this request.
    public func verify(by key: P256.Signing.PublicKey) throws(DeviceProofError) {
        do throws(MessageSignatureError) {
            try signature.verify(request, body: body, by: key)
        } catch {
            switch error {
            case .coverage(let name): throw .coverage(name)
            case .digest: throw .otherContent
            case .invalid: throw .invalid
            // What the fields say of themselves was checked when they were read.
            case .malformed, .missing, .parameter, .several: throw .malformed
            }
        }
    }
}
