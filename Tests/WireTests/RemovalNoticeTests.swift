import CountersignWire
import Crypto
import Encodings
import OpenPGP
import Testing

@Suite("A device wipes its keys on a signed notice and on nothing less")
struct RemovalNoticeTests {
    private static let made = Sample.time.unixSeconds

    private let sample: Sample
    private let primary = SigningKeyPair(P256.Signing.PrivateKey(), createdAt: made)
    private let signing = SigningKeyPair(P256.Signing.PrivateKey(), createdAt: made)
    private let notice: RemovalNotice

    init() throws {
        sample = try Sample()
        notice = RemovalNotice(
            issuer: sample.issuer, enrollment: sample.enrollment, removedAt: Sample.time, reason: .client)
    }

    private func certificate() async throws -> Certificate {
        try await Certificate.make(
            primary: primary, flags: .certify, userID: "login.example.com", subkeys: [.signing(signing)], at: Self.made)
    }

    private func signed(_ text: String, by key: SigningKeyPair? = nil) async throws -> String {
        try await CleartextMessage.sign(text, by: key ?? signing, at: Self.made).encoded
    }

    private func verify(_ message: String, now: UnixSeconds = made + 60) async throws -> RemovalNotice? {
        RemovalNotice(
            verifying: message, issuer: sample.issuer, enrollment: sample.enrollment,
            certificate: try await certificate(), now: now)
    }

    @Test("The notice as text")
    func text() {
        #expect(
            notice.text == """
                Countersign removal notice v1
                issuer: https://login.example.com
                enrollment: \(sample.enrollment)
                removed: 2026-11-20T10:15:02Z
                reason: removed_by_client
                """)
    }

    @Test("A notice that the server signed counts, for every reason", arguments: RemovalReason.allCases)
    func counts(reason: RemovalReason) async throws {
        let notice = RemovalNotice(
            issuer: sample.issuer, enrollment: sample.enrollment, removedAt: Sample.time, reason: reason)
        #expect(try await verify(try await signed(notice.text)) == notice)
    }

    @Test("A reason that this version does not know is read as text, and the notice counts")
    func unknownReason() async throws {
        for word in ["removed_by_nobody", "lost_2", String(repeating: "a", count: 64)] {
            let text = notice.text.replacing("removed_by_client", with: word)
            let read = try #require(try await verify(try await signed(text)))
            #expect(read.reason == nil && read.reasonText == word && read.text == text)
        }
        let long = notice.text.replacing("removed_by_client", with: String(repeating: "a", count: 65))
        #expect(try await verify(try await signed(long)) == nil)
    }

    @Test("A notice of another issuer or about another enrollment does not count, though the server signed it")
    func others() async throws {
        let issuer = try #require(Issuer("https://login.example.org"))
        let enrollment = EnrollmentID(at: Sample.time, random: [UInt8](repeating: 9, count: 10))
        for other in [
            RemovalNotice(issuer: issuer, enrollment: sample.enrollment, removedAt: Sample.time, reason: .client),
            RemovalNotice(issuer: sample.issuer, enrollment: enrollment, removedAt: Sample.time, reason: .client),
        ] {
            #expect(try await verify(try await signed(other.text)) == nil)
        }
    }

    @Test("A stranger's notice does not count, nor one by a key that does not sign, nor one from the future")
    func signers() async throws {
        let stranger = SigningKeyPair(P256.Signing.PrivateKey(), createdAt: Self.made)
        #expect(try await verify(try await signed(notice.text, by: stranger)) == nil)
        #expect(try await verify(try await signed(notice.text, by: primary)) == nil)
        let message = try await signed(notice.text)
        #expect(try await verify(message, now: Self.made - 1) == nil)
        #expect(try await verify(message, now: Self.made) == notice)
    }

    @Test("A notice by a key that was taken back does not count, whatever date it bears")
    func revoked() async throws {
        let message = try await signed(notice.text)
        for reason in [RevocationReason.superseded, .compromised] {
            let certificate = try await certificate().revoking(
                signing.publicKey.fingerprint, because: reason, by: primary, at: Self.made + 30)
            let read = RemovalNotice(
                verifying: message, issuer: sample.issuer, enrollment: sample.enrollment, certificate: certificate,
                now: Self.made + 60)
            #expect(read == nil, "\(reason)")
        }
    }

    @Test(
        "Any other text that the server signed does not count",
        arguments: [
            ("Countersign removal notice v1", "Countersign removal notice v2"),
            ("Countersign removal notice v1", "Countersign receipt v1"), ("removed_by_client", "Removed"),
            ("removed_by_client", "a b"), ("removed_by_client", "\u{E9}"),
            ("reason: removed_by_client", "reason:"), ("reason: ", "Reason: "), ("removed: ", "removed:  "),
            ("10:15:02Z", "10:15:02.000Z"), ("2026-11-20", "2026-02-30"), ("removed: ", "x: "),
            ("issuer: ", "issuer:"), ("enrollment: enr", "enrollment: ENR"), ("client", "client\nreason: user_deleted"),
            ("client", "client\n"), ("Countersign", "\nCountersign"),
            ("removed: ", "removed: 2026-11-20T10:15:02Z\nremoved: "),
        ])
    func otherTexts(old: String, new: String) async throws {
        #expect(notice.text.contains(old))
        #expect(try await verify(try await signed(notice.text.replacing(old, with: new))) == nil)
    }

    @Test("A notice changed after signing, without signature, or with something around it does not count")
    func altered() async throws {
        let message = try await signed(notice.text)
        for other in [
            "", notice.text, "x\n\(message)", "\(message)x", message + message,
            message.replacing("removed_by_client", with: "user_deleted"),
            message.replacing("10:15:02Z", with: "10:15:03Z"),
        ] {
            #expect(!other.hasSameBytes(as: message))
            #expect(try await verify(other) == nil)
        }
    }
}
