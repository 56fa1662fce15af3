import Encodings

extension Certificate {
    /// A key or a user ID of a certificate, with the signatures about it.
    ///
    /// Spec: RFC 9580 §10.1.
    public struct Component: Sendable {
        /// The key or user ID.
        public enum Subject: Sendable {
            /// The primary key.
            case primary(PublicKey)
            /// A user ID.
            case userID(String)
            /// A subkey.
            case subkey(PublicKey)
        }

        /// The key or user ID.
        public let subject: Subject
        /// The primary key's signatures about it, in order.
        public let signatures: [Signature]
        /// The number of other signatures that follow it: by other keys, or by signers that this module cannot
        /// determine.
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

        /// Appends the component to a certificate in the form of ``Certificate/canonical(_:)``.
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

    /// A certificate of these components in this module's canonical encoding.
    ///
    /// It has the shortest packet headers and no signatures by others. Of the parts that signatures do not cover, it
    /// keeps only those that ``Signature/canonical(by:backSignedBy:)`` keeps. Every self-signature is verified.
    ///
    /// - Parameter components: the primary key, the user IDs, the subkeys.
    public static func canonical(_ components: [Component]) throws(OpenPGPError) -> Certificate {
        guard let primary = components.first?.key else { throw .truncated }
        var bytes: [UInt8] = []
        for component in components { try component.append(to: &bytes, of: primary.fingerprint) }
        return try Certificate(parsing: bytes)
    }
}
