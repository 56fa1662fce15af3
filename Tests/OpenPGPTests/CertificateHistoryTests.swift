@testable import OpenPGP
import TestSupport
import Testing

@Suite("Keys are judged by what was stated about them at the time of signing")
struct CertificateHistoryTests {
    private static let day: UInt32 = 86_400
    private let forge: CertificateForge

    init() async throws {
        forge = try await CertificateForge()
    }

    @Test("RFC 9580 §5.2.3.10: between its end and its renewal a key was expired")
    func renewal() async throws {
        let (first, second) = (
            try await forge.certification { $0.keyLifetime = Self.day },
            try await forge.certification(at: Holder.time + 3 * Self.day) { $0.keyLifetime = 9 * Self.day }
        )
        for order in [first + second, second + first] {
            let key = try Certificate(parsing: forge.key + forge.userID + order).primary
            try key.check(.sign, at: Holder.time)
            try key.check(.sign, at: Holder.time + Self.day - 1)
            for time in [Self.day, 2 * Self.day, 3 * Self.day - 1, 9 * Self.day] {
                #expect(throws: OpenPGPError.keyExpired) { try key.check(.sign, at: Holder.time + time) }
            }
            try key.check(.sign, at: Holder.time + 3 * Self.day)
            #expect(key.expiresAt == Holder.time + 9 * Self.day)
        }
    }

    @Test("RFC 9580 §5.2.3.29: flags and notations given or taken away later do not change what held before")
    func flags() async throws {
        let pair = forge.holder.authentication
        let notation = Notation(name: "method@example.com", value: "biometric")
        let back = try await Signature.make(
            .primaryKeyBinding, over: .subkey(pair.publicKey, of: forge.primary), by: pair, at: Holder.time)
        let certificate = try Certificate(
            parsing: try await forge.head() + forge.subkey(pair.publicKey)
                + forge.binding(of: pair.publicKey, flags: .authenticate)
                + forge.binding(of: pair.publicKey, flags: .sign, at: Holder.time + 100) {
                    $0.embeddedSignature = back.body
                    $0.notations = [notation]
                }
                + forge.binding(of: pair.publicKey, flags: .authenticate, at: Holder.time + 200))
        let key = try #require(certificate.subkeys.first)
        #expect(throws: OpenPGPError.wrongKeyFlags) { try key.check(.sign, at: Holder.time + 99) }
        try key.check(.sign, at: Holder.time + 100)
        try key.check(.sign, at: Holder.time + 199)
        #expect(throws: OpenPGPError.wrongKeyFlags) { try key.check(.sign, at: Holder.time + 200) }
        #expect(key.statement(at: Holder.time + 150).notations == [notation])
        #expect(key.statement(at: Holder.time + 99).notations.isEmpty)
        #expect(key.notations.isEmpty && key.flags == .authenticate)
    }

    @Test("A subkey was expired whenever its primary key was")
    func primaryEnds() async throws {
        let subkey = forge.holder.encryption.publicKey
        let certificate = try Certificate(
            parsing: forge.key + forge.userID + (try await forge.certification { $0.keyLifetime = 10 })
                + (try await forge.certification(at: Holder.time + 20)) + forge.subkey(subkey)
                + (try await forge.binding(of: subkey, flags: .encrypt)))
        let key = try #require(certificate.subkeys.first)
        try key.check(.encrypt, at: Holder.time + 9)
        #expect(throws: OpenPGPError.keyExpired) { try key.check(.encrypt, at: Holder.time + 10) }
        #expect(throws: OpenPGPError.keyExpired) { try key.check(.encrypt, at: Holder.time + 19) }
        try key.check(.encrypt, at: Holder.time + 20)
        #expect(key.expiresAt == nil)
    }

    @Test("The first statement holds from the making of the key on")
    func beforeTheFirst() async throws {
        let certificate = try Certificate(
            parsing: forge.key + forge.userID + (try await forge.certification(at: Holder.time + 50)))
        try certificate.primary.check(.sign, at: Holder.time)
    }

    @Test("RFC 9580 §5.2.3.31: what was signed before a soft revocation stays good, to the second")
    func softRevocation() async throws {
        let holder = forge.holder
        let revoked = try await holder.certificate.revoking(
            holder.certificate.fingerprint, because: .superseded, by: holder.primary, at: Holder.time + 50)
        for (time, error) in [(49, nil), (50, .keyRevoked), (51, .keyRevoked)] as [(UInt32, OpenPGPError?)] {
            let signature = try await DetachedSignature.sign(
                .binary([1]), by: holder.primary, at: Holder.time + time)
            guard let error else {
                _ = try signature.verify([1], by: revoked, now: .max)
                continue
            }
            #expect(throws: error) { try signature.verify([1], by: revoked, now: .max) }
        }
    }
}
