import CountersignWire
import Crypto
import OpenPGP
import Testing

@Suite("What an answer proves")
struct CredentialTests {
    private static let time: UnixSeconds = 1_790_000_000
    private let primary = SigningKeyPair(P256.Signing.PrivateKey(), createdAt: time)
    private let authentication = SigningKeyPair(P256.Signing.PrivateKey(), createdAt: time)
    private let encryption = DecryptionKeyPair(P256.KeyAgreement.PrivateKey(), createdAt: time)

    private func certificate(
        userID: String = "u", flags: KeyFlags = [.certify, .sign], subkeys: [Certificate.NewSubkey]? = nil
    ) async throws -> Certificate {
        try await Certificate.make(
            primary: primary, flags: flags, userID: userID,
            subkeys: subkeys ?? [.authentication(authentication), .encryption(encryption.publicKey)], at: Self.time)
    }

    @Test("Three levels, and a receipt proves most")
    func levels() {
        #expect(Assurance.allCases.shuffled().sorted() == [.event, .challenge, .receipt])
        #expect(Assurance.allCases.map(\.rawValue) == ["event", "challenge", "receipt"])
        for (index, level) in Assurance.allCases.enumerated() {
            for (other, otherLevel) in Assurance.allCases.enumerated() {
                #expect((level < otherLevel) == (index < other))
            }
        }
    }

    @Test("A device's certificate and a signed receipt are of the highest level")
    func receipts() async throws {
        let certificate = try await certificate()
        let keys = try DeviceKeys(of: certificate, userID: "u", now: Self.time)
        #expect(Credential.openPGP(keys).assurance == .receipt)
        let message = try await CleartextMessage.sign("text", by: primary, at: Self.time)
        #expect(Evidence.receipt(message, certificate: certificate.encoded).assurance == .receipt)
    }

    @Test("The keys of a certificate are told apart by what they may do, in whatever order they stand")
    func keys() async throws {
        let reversed = try await certificate(
            subkeys: [.encryption(encryption.publicKey), .authentication(authentication)])
        for certificate in [try await certificate(), reversed] {
            let keys = try DeviceKeys(of: certificate, userID: "u", now: Self.time)
            #expect(keys.primary.fingerprint == primary.publicKey.fingerprint)
            #expect(keys.authentication.fingerprint == authentication.publicKey.fingerprint)
            #expect(keys.encryption.fingerprint == encryption.publicKey.fingerprint)
        }
    }

    @Test("The one user ID names user, enrollment and the issuer's host, and no person")
    func userID() async throws {
        let sample = try Sample()
        let issuer = try #require(Issuer("https://login.example.com:8443"))
        let text = DeviceKeys.userID(of: sample.user, enrollment: sample.enrollment, issuer: issuer)
        #expect(text == "\(sample.user) <\(sample.enrollment)@login.example.com>")
        for other in ["", "U", "u ", " u", "u\u{301}"] {
            let certificate = try await certificate(userID: other)
            #expect(throws: DeviceCertificateRefusal.userID) {
                try DeviceKeys(of: certificate, userID: "u", now: Self.time)
            }
        }
        // Equal to Swift's `==`, and yet other bytes.
        let decomposed = try await certificate(userID: "e\u{301}")
        #expect(throws: DeviceCertificateRefusal.userID) {
            try DeviceKeys(of: decomposed, userID: "\u{E9}", now: Self.time)
        }
    }

    @Test("Other flags, missing keys and keys too many are refused")
    func otherKeys() async throws {
        let other = SigningKeyPair(P256.Signing.PrivateKey(), createdAt: Self.time)
        let authenticates = Certificate.NewSubkey.authentication(authentication)
        let encrypts = Certificate.NewSubkey.encryption(encryption.publicKey)
        for (flags, subkeys) in [
            (.certify, [authenticates, encrypts]), (.sign, [authenticates, encrypts]),
            ([.certify, .sign, .authenticate], [authenticates, encrypts]), ([.certify, .sign], []),
            ([.certify, .sign], [authenticates]), ([.certify, .sign], [encrypts]),
            ([.certify, .sign], [authenticates, .authentication(other)]), ([.certify, .sign], [encrypts, encrypts]),
            ([.certify, .sign], [authenticates, encrypts, .authentication(other)]),
            ([.certify, .sign], [authenticates, encrypts, .signing(other)]),
            ([.certify, .sign], [.signing(other), encrypts]),
        ] as [(KeyFlags, [Certificate.NewSubkey])] {
            let certificate = try await certificate(flags: flags, subkeys: subkeys)
            #expect(throws: DeviceCertificateRefusal.keys, "\(flags.rawValue) \(subkeys.count)") {
                try DeviceKeys(of: certificate, userID: "u", now: Self.time)
            }
        }
    }

    @Test("A key made in the future is refused")
    func future() async throws {
        let certificate = try await certificate()
        #expect(throws: DeviceCertificateRefusal.time) {
            try DeviceKeys(of: certificate, userID: "u", now: Self.time - 1)
        }
    }
}
