import OpenPGP
import TestSupport
import Testing

@Suite("Signatures, ours verified by others and theirs by us")
struct PeerSignatureTests {
    private static let text = "Countersign receipt v1\n- dash\nFrom here\n\nlast line, ü"
    private static let bytes = Array(UInt8.min...UInt8.max) + Array("\r\n\n\r".utf8)

    /// A content of ours, signed in one of the forms.
    enum Ours: String, CaseIterable, Sendable {
        case cleartext, detachedText, detachedBinary, inlineText, inlineBinary

        var form: SignedForm {
            switch self {
            case .cleartext: .cleartext
            case .detachedText, .detachedBinary: .detached
            case .inlineText, .inlineBinary: .inline
            }
        }

        var content: MessageContent {
            switch self {
            case .cleartext, .detachedText, .inlineText: .text(PeerSignatureTests.text)
            case .detachedBinary, .inlineBinary: .binary(PeerSignatureTests.bytes)
            }
        }

        /// What was signed.
        var bytes: [UInt8] {
            switch content {
            case .text(let text): Array(text.utf8)
            case .binary(let bytes): bytes
            }
        }

        func signed(by key: SigningKeyPair) async throws -> [UInt8] {
            let time = SoftwareKeys.time
            switch form {
            case .cleartext:
                return Array(try await CleartextMessage.sign(PeerSignatureTests.text, by: key, at: time).encoded.utf8)
            case .detached: return try await DetachedSignature.sign(content, by: key, at: time).encoded
            case .inline: return try await SignedMessage.sign(content, by: key, at: time)
            }
        }
    }

    @Test(
        "Ours is good for a peer, and names the key that signed: the primary key or the subkey",
        arguments: PeerName.installed, Ours.allCases)
    func ours(name: PeerName, ours: Ours) async throws {
        let keys = try await SoftwareKeys()
        let peer = try name.start()
        try peer.learn(keys.certificate)
        for signer in [keys.primary, try #require(keys.pin)] {
            let signed = try await ours.signed(by: signer)
            #expect(try peer.verify(signed, ours.form, over: ours.bytes) == .good(signer.publicKey.fingerprint))
        }
    }

    @Test("A stranger's signature is not good for a peer", arguments: PeerName.installed, Ours.allCases)
    func stranger(name: PeerName, ours: Ours) async throws {
        let (keys, stranger) = (try await SoftwareKeys(), try await SoftwareKeys())
        let peer = try name.start()
        try peer.learn(keys.certificate)
        let signed = try await ours.signed(by: stranger.primary)
        #expect(try peer.verify(signed, ours.form, over: ours.bytes) == .refused)
    }

    @Test(
        "Content of ours that was changed in one bit is refused by a peer", arguments: PeerName.installed, Ours.allCases
    )
    func altered(name: PeerName, ours: Ours) async throws {
        let keys = try await SoftwareKeys()
        let peer = try name.start()
        try peer.learn(keys.certificate)
        let signed = try await ours.signed(by: keys.primary)
        // A stretch of the content that no form escapes.
        let stretch = ours.bytes == Self.bytes ? Array(Self.bytes[40...60]) : Array(Self.text.utf8.prefix(20))
        let whole = ours.form == .detached ? ours.bytes : signed
        let range = try #require(whole.firstRange(of: stretch))
        for index in range {
            var other = whole
            other[index] ^= 1
            let verdict =
                ours.form == .detached
                ? try peer.verify(signed, .detached, over: other) : try peer.verify(other, ours.form, over: [])
            #expect(verdict == .refused, "byte \(index)")
        }
    }

    @Test("A peer's signature is good for us", arguments: PeerName.installed, SignedForm.allCases)
    func theirs(name: PeerName, form: SignedForm) async throws {
        let peer = try await name.startWithKey()
        let certificate = try peer.certificate()
        let content = Array(Self.text.utf8)
        let signed = try peer.sign(content, form)
        #expect(try Self.signer(of: signed, form, over: content, by: certificate) == certificate.fingerprint)
        let stranger = try await SoftwareKeys()
        #expect(throws: OpenPGPError.unknownSigner) {
            try Self.signer(of: signed, form, over: content, by: stranger.certificate)
        }
    }

    @Test(
        "A peer's signed content that was changed in one bit is refused by us", arguments: PeerName.installed,
        SignedForm.allCases)
    func theirsAltered(name: PeerName, form: SignedForm) async throws {
        let peer = try await name.startWithKey()
        let certificate = try peer.certificate()
        let content = Array(Self.text.utf8)
        let signed = try peer.sign(content, form)
        let stretch = Array(Self.text.utf8.prefix(20))
        let range = try #require((form == .detached ? content : signed).firstRange(of: stretch))
        for index in range {
            var (other, beside) = (signed, content)
            if form == .detached { beside[index] ^= 1 } else { other[index] ^= 1 }
            #expect(throws: OpenPGPError.badSignature, "byte \(index)") {
                try Self.signer(of: other, form, over: beside, by: certificate)
            }
        }
    }

    @Test("RFC 9580 §6: armored, too, ours is good for a peer and a peer's for us", arguments: PeerName.installed)
    func armored(name: PeerName) async throws {
        let (keys, content) = (try await SoftwareKeys(), Self.bytes)
        let peer = try await name.startWithKey()
        let certificate = try peer.certificate()
        try peer.learn(keys.certificate)
        let time = SoftwareKeys.time
        let detached = try await DetachedSignature.sign(.binary(content), by: keys.primary, at: time).armored
        let inline = Armor.encode(
            try await SignedMessage.sign(.binary(content), by: keys.primary, at: time), as: .message)
        for (text, form) in [(detached, SignedForm.detached), (inline, .inline)] {
            let verdict = try peer.verify(Array(text.utf8), form, over: content)
            #expect(verdict == .good(keys.certificate.fingerprint), "\(form)")
        }
        for (kind, form) in [(Armor.Kind.signature, SignedForm.detached), (.message, .inline)] {
            let text = String(decoding: try peer.sign(content, form, on: nil, armored: true), as: UTF8.self)
            let signer = try Self.signer(
                of: try Armor.decode(text, as: kind), form, over: content, by: certificate)
            #expect(signer == certificate.fingerprint, "\(form)")
        }
    }

    /// The key that signed, once we verified what a peer made.
    private static func signer(
        of signed: [UInt8], _ form: SignedForm, over content: [UInt8], by certificate: Certificate
    ) throws -> Fingerprint {
        switch form {
        case .cleartext:
            let message = try CleartextMessage(parsing: String(decoding: signed, as: UTF8.self))
            return try message.verify(by: certificate, now: .max).fingerprint
        case .detached:
            let signature = try DetachedSignature(parsing: signed)
            return try signature.verify(content, by: certificate, now: .max).fingerprint
        case .inline:
            let message = try SignedMessage.open(signed, signers: certificate.keys, now: .max)
            #expect(message.content == content)
            return message.signer.fingerprint
        }
    }
}
