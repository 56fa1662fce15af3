import CountersignWire
import Crypto
import Encodings
import Testing

@testable import OpenPGP

@Suite("A receipt counts when text, signature, signer and certificate fit together")
struct VerifiedReceiptTests {
    private static let made = Sample.time.unixSeconds
    private static let now = Sample.answeredAt.unixSeconds + 60

    private let sample: Sample
    private let primary = SigningKeyPair(P256.Signing.PrivateKey(), createdAt: made)
    private let authentication = SigningKeyPair(P256.Signing.PrivateKey(), createdAt: made)
    private let signing = SigningKeyPair(P256.Signing.PrivateKey(), createdAt: made)

    init() throws {
        sample = try Sample()
    }

    private func certificate() async throws -> Certificate {
        try await Certificate.make(
            primary: primary, flags: [.certify, .sign],
            userID: DeviceKeys.userID(of: sample.user, enrollment: sample.enrollment, issuer: sample.issuer),
            subkeys: [.authentication(authentication), .signing(signing)], at: Self.made)
    }

    private func receipt(
        _ decision: Decision = .approved(.confirm, number: nil), at time: Timestamp = Sample.answeredAt
    ) throws -> Receipt {
        Receipt(
            of: try sample.fullQuestion(), user: sample.user, device: primary.publicKey.fingerprint, decision: decision,
            answeredAt: time)
    }

    private func signed(_ text: String, by key: SigningKeyPair? = nil, at time: Timestamp = Sample.answeredAt)
        async throws -> String
    {
        try await CleartextMessage.sign(text, by: key ?? primary, at: time.unixSeconds).encoded
    }

    private func verify(_ message: String, now: UnixSeconds = now) async throws -> VerifiedReceipt {
        try VerifiedReceipt(message: message, certificate: try await certificate(), now: now)
    }

    @Test("Each decision, signed by the primary key, counts")
    func counts() async throws {
        for decision in [.approved(.confirm, number: sample.number), .denied, .reported] as [Decision] {
            let receipt = try receipt(decision)
            let verified = try await verify(try await signed(receipt.text))
            #expect(verified.receipt == receipt)
            #expect(verified.signer.fingerprint == primary.publicKey.fingerprint)
        }
    }

    @Test("An approval by PIN counts when the subkey's notation says so, for this issuer and this method")
    func pin() async throws {
        let right = AnswerMethod.pin.notation(of: sample.issuer)
        for (notations, counts) in [
            ([right], true), ([], false), ([Notation(name: right.name, value: "confirm")], false),
            ([Notation(name: "method@example.com", value: "pin")], false), ([right, right], false),
        ] {
            let certificate = try await Certificate.make(
                primary: primary, flags: [.certify, .sign],
                userID: DeviceKeys.userID(of: sample.user, enrollment: sample.enrollment, issuer: sample.issuer),
                subkeys: [.authentication(authentication), .signing(signing, notations: notations)], at: Self.made)
            let receipt = try receipt(.approved(.pin, number: sample.number))
            let message = try await signed(receipt.text, by: signing)
            if counts {
                let verified = try VerifiedReceipt(message: message, certificate: certificate, now: Self.now)
                #expect(verified.signer.fingerprint == signing.publicKey.fingerprint)
                let byPrimary = try await signed(receipt.text)
                #expect(throws: ReceiptRefusal.wrongSigner) {
                    try VerifiedReceipt(message: byPrimary, certificate: certificate, now: Self.now)
                }
            } else {
                #expect(throws: ReceiptRefusal.wrongSigner, "\(notations)") {
                    try VerifiedReceipt(message: message, certificate: certificate, now: Self.now)
                }
            }
        }
    }

    @Test("An approval by a custom authenticator is signed by the primary key, and by nothing else")
    func custom() async throws {
        let name = try #require(AuthenticatorName("voice-print"))
        let receipt = Receipt(
            of: try sample.fullQuestion(), user: sample.user, device: primary.publicKey.fingerprint,
            decision: .approved(.custom(name), number: nil), customDataHash: [UInt8](repeating: 7, count: 32),
            answeredAt: Sample.answeredAt)
        let verified = try await verify(try await signed(receipt.text))
        #expect(verified.receipt == receipt && verified.signer.fingerprint == primary.publicKey.fingerprint)
        let other = try await signed(receipt.text, by: signing)
        await #expect(throws: ReceiptRefusal.wrongSigner) { try await verify(other) }
    }

    @Test("A subkey that may sign does not prove a confirmation or a no")
    func otherSigner() async throws {
        for decision in [.approved(.confirm, number: nil), .denied, .reported] as [Decision] {
            let message = try await signed(try receipt(decision).text, by: signing)
            await #expect(throws: ReceiptRefusal.wrongSigner) { try await verify(message) }
        }
    }

    @Test("The authentication subkey signs no receipt")
    func authenticationKey() async throws {
        let message = try await signed(try receipt().text, by: authentication)
        await #expect(throws: ReceiptRefusal.signature(.wrongKeyFlags)) { try await verify(message) }
    }

    @Test("A stranger's signature does not count, even on a receipt that names the device")
    func stranger() async throws {
        let stranger = SigningKeyPair(P256.Signing.PrivateKey(), createdAt: Self.made)
        let message = try await signed(try receipt().text, by: stranger)
        await #expect(throws: ReceiptRefusal.signature(.unknownSigner)) { try await verify(message) }
    }

    @Test("A receipt of another device does not count, whoever signed it")
    func otherDevice() async throws {
        let message = try await signed(sample.receipt(of: try sample.fullQuestion()).text)
        await #expect(throws: ReceiptRefusal.wrongDevice) { try await verify(message) }
    }

    @Test("Another text that the key signed is no receipt")
    func otherText() async throws {
        for text in ["Countersign change v1\nissuer: https://login.example.com", "hello", ""] {
            let message = try await signed(text)
            await #expect(throws: ReceiptRefusal.text(.notAReceipt)) { try await verify(message) }
        }
    }

    @Test("A receipt whose text was changed afterwards does not count")
    func changed() async throws {
        let message = try await signed(try receipt().text)
        for (old, new) in [("EUR 1,250.00", "EUR 9,250.00"), ("10:15:31Z", "10:15:32Z"), ("Firefox", "Firef0x")] {
            #expect(message.contains(old))
            let altered = message.replacing(old, with: new)
            await #expect(throws: ReceiptRefusal.signature(.badSignature)) { try await verify(altered) }
        }
        let denied = message.replacing("decision: approved\nmethod: confirm", with: "decision: denied")
        await #expect(throws: ReceiptRefusal.signature(.badSignature)) { try await verify(denied) }
        await #expect(throws: ReceiptRefusal.text(.malformedField("decision"))) {
            try await verify(message.replacing("decision: approved", with: "decision: Approved"))
        }
    }

    @Test("A receipt without its signature, or with something around it, does not count")
    func framing() async throws {
        let text = try receipt().text
        let message = try await signed(text)
        for file in [text, "", "x\n\(message)", String(message.dropFirst()), "\(message)x\n", message + message] {
            await #expect(throws: ReceiptRefusal.self) { try await verify(file) }
        }
        await #expect(throws: ReceiptRefusal.signature(.malformedCleartext)) { try await verify(text) }
        await #expect(throws: ReceiptRefusal.signature(.malformedCleartext)) { try await verify("x\n\(message)") }
    }

    @Test("A signature from the future does not count yet")
    func future() async throws {
        let message = try await signed(try receipt().text)
        let before = Sample.answeredAt.unixSeconds - 1
        await #expect(throws: ReceiptRefusal.signature(.badSignatureTime)) { try await verify(message, now: before) }
        #expect(try await verify(message, now: before + 1).receipt.answeredAt == Sample.answeredAt)
    }

    @Test("The signer is judged at the time the receipt says, not only at that of its signature")
    func answeredTooLate() async throws {
        let end = Sample.answeredAt.unixSeconds
        let message = try await signed(try receipt().text, at: Sample.answeredAt.adding(seconds: -1))
        for (expiresAt, revokedAt, refusal) in [
            (end, nil, .signature(.keyExpired)), (nil, end, .signature(.keyRevoked)), (end + 1, end + 1, nil),
        ] as [(UnixSeconds?, UnixSeconds?, ReceiptRefusal?)] {
            let key = CertifiedKey(
                previouslyCertified: primary.publicKey, flags: [.certify, .sign], expiresAt: expiresAt,
                revokedAt: revokedAt)
            let certificate = Certificate(encoded: [], primary: key, userIDs: [], subkeys: [])
            if let refusal {
                #expect(throws: refusal) {
                    try VerifiedReceipt(message: message, certificate: certificate, now: Self.now)
                }
            } else {
                #expect(
                    try VerifiedReceipt(message: message, certificate: certificate, now: Self.now).receipt == receipt())
            }
        }
    }

    @Test("A signature made after its key had ended does not count, whatever time the receipt says")
    func backdated() async throws {
        let end = Sample.answeredAt.unixSeconds + 1
        let message = try await signed(try receipt().text, at: Sample.answeredAt.adding(seconds: 1))
        for (expiresAt, revokedAt, error) in [(end, nil, .keyExpired), (nil, end, .keyRevoked)]
            as [(UnixSeconds?, UnixSeconds?, OpenPGPError)]
        {
            let key = CertifiedKey(
                previouslyCertified: primary.publicKey, flags: [.certify, .sign], expiresAt: expiresAt,
                revokedAt: revokedAt)
            let certificate = Certificate(encoded: [], primary: key, userIDs: [], subkeys: [])
            #expect(throws: ReceiptRefusal.signature(error)) {
                try VerifiedReceipt(message: message, certificate: certificate, now: Self.now)
            }
        }
    }
}
