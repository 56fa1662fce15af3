import Encodings

extension Certificate {
    /// A key or a user ID of a certificate, with what is signed about it.
    ///
    /// Spec: RFC 9580 §10.1.
    public struct Component: Sendable {
        /// What it is.
        public enum Subject: Sendable {
            /// The primary key.
            case primary(PublicKey)
            /// A user ID.
            case userID(String)
            /// A subkey.
            case subkey(PublicKey)
        }

        /// What it is.
        public let subject: Subject
        /// What the primary key signed about it, in order.
        public let signatures: [Signature]
        /// How many signatures by others, or by nobody this module can tell, follow it.
        public let foreignSignatures: Int

        /// A component with these signatures by the primary key and none by others.
        public init(_ subject: Subject, signatures: [Signature]) {
            self.init(subject, signatures: signatures, foreignSignatures: 0)
        }

        init(_ subject: Subject, signatures: [Signature], foreignSignatures: Int) {
            self.subject = subject
            self.signatures = signatures
            self.foreignSignatures = foreignSignatures
        }

        /// The key; nil for a user ID.
        public var key: PublicKey? {
            switch subject {
            case .primary(let key), .subkey(let key): key
            case .userID: nil
            }
        }

        /// Adds it to a certificate in the form that ``Certificate/canonical(_:)`` says.
        fileprivate func append(to bytes: inout [UInt8], of primary: Fingerprint) throws(OpenPGPError) {
            switch subject {
            case .primary(let key): bytes.append(packet: .publicKey, key.body)
            case .userID(let text): bytes.append(packet: .userID, text.utf8)
            case .subkey(let key): bytes.append(packet: .publicSubkey, key.body)
            }
            for signature in signatures {
                let canonical = try signature.canonical(by: primary, backSignedBy: key?.fingerprint)
                bytes.append(packet: .signature, canonical.body)
            }
        }
    }

    /// A certificate of these components, encoded in the one way that this module has.
    ///
    /// It has the shortest packet headers, nothing signed by others, and of what signatures do not cover only what
    /// ``Signature/canonical(by:backSignedBy:)`` leaves. Every self-signature is verified.
    ///
    /// - Parameter components: the primary key, the user IDs, the subkeys.
    public static func canonical(_ components: [Component]) throws(OpenPGPError) -> Certificate {
        guard let primary = components.first?.key else { throw .truncated }
        var bytes: [UInt8] = []
        for component in components { try component.append(to: &bytes, of: primary.fingerprint) }
        return try Certificate(parsing: bytes)
    }
}
