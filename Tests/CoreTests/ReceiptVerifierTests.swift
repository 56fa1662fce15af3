import CountersignWire
import Crypto
import OpenPGP
import StorageTestSupport
import TestSupport
import Testing

@testable import CountersignCore

/// A device with a PIN and an answer of it to a challenge, all of it right; each test changes one thing.
struct ReceiptScene: Sendable {
    static let now = AskScene.now
    /// When the device and its PIN were made.
    static let made = now.adding(seconds: -1000)

    let issuer: Issuer
    let keys: IssuerKeys
    let holder: Holder
    let pin: SigningKeyPair
    let stranger: SigningKeyPair
    private let device: DeviceKeys
    private let pinKey: CertifiedKey
    let question: Question

    // What the server knows.
    var certificate: Certificate
    var methods: [AnswerMethod] = [.confirm, .pin]
    var asksNumber = true
    var countsFrom = made
    var isSuspended = false
    var pinLockedAt: Timestamp?
    var pinCountsFrom = made

    // What the device sends.
    var decision: Decision
    var answeredAt = now
    var text: @Sendable (String) -> String = { $0 }
    var signer: SigningKeyPair
    var signedAt = now
    var isBinary = false
    var recipient: Fingerprint
    var sealed: @Sendable ([UInt8]) -> [UInt8] = { $0 }

    /// A right approval by the device's own key, or by the PIN.
    init(by method: AnswerMethod = .confirm) async throws {
        guard let issuer = Issuer(World.issuer), let nonce = Nonce(bytes: [UInt8](repeating: 9, count: 32)) else {
            throw World.Broken("issuer")
        }
        self.issuer = issuer
        keys = try await IssuerKeyMaterial.make(issuer: issuer, at: Self.made, random: SeededRandom(seed: 1)).keys
        let time = Self.made.unixSeconds
        let userID = DeviceKeys.userID(of: AskScene.id(200), enrollment: AskScene.id(1), issuer: issuer)
        holder = try await Holder(userID: userID, at: time)
        pin = SigningKeyPair(P256.Signing.PrivateKey(), createdAt: time)
        stranger = SigningKeyPair(P256.Signing.PrivateKey(), createdAt: time)
        device = try DeviceKeys(of: holder.certificate, userID: userID, now: time)
        certificate = try await holder.certificate.adding(
            .signing(pin, notations: [AnswerMethod.pin.notation(of: issuer)]), by: holder.primary, at: time)
        guard let pinKey = certificate.subkeys.last else { throw World.Broken("certificate") }
        self.pinKey = pinKey
        question = Question(
            challenge: AskScene.id(202), nonce: nonce, issuer: issuer, client: AskScene.id(201),
            clientName: try ClientName("ACME"), type: .confirm, context: nil,
            askedAt: Self.now.adding(seconds: -30), details: [], signingData: nil, message: try DisplayMessage("Pay?"))
        decision = .approved(method, number: AskScene.number)
        signer = method == .pin ? pin : holder.primary
        recipient = keys.certificate.fingerprint
    }

    /// What the verifier makes of it.
    func verdict() async throws -> AnswerVerdict {
        let enrollment = Enrollment(
            id: AskScene.id(1), user: AskScene.id(200), client: AskScene.id(201),
            state: isSuspended ? .suspended(since: Self.made) : .active, credential: .openPGP(device),
            device: DeviceDescription(name: try DisplayLine("Phone"), storage: .software),
            pin: EnrolledPIN(key: pinKey, wrongCount: 0, lockedAt: pinLockedAt, countsFrom: pinCountsFrom),
            createdAt: Self.made, countsFrom: countsFrom)
        let challenge = Challenge(
            question: question, user: enrollment.user, alert: question.message, methods: methods,
            numberHash: asksNumber ? AskScene.hasher.hash(of: AskScene.number, challenge: question.challenge) : nil,
            expiresAt: Self.now.adding(seconds: 90), callbackURI: nil, clientState: nil, locale: nil, state: .pending)
        let receipt = text(
            Receipt(
                of: question, user: enrollment.user, device: holder.certificate.fingerprint, decision: decision,
                answeredAt: answeredAt
            ).text)
        let server = keys.certificate
        let message = try await EncryptedMessage.seal(
            isBinary ? .binary(Array(receipt.utf8)) : .text(receipt), signedBy: signer,
            to: try server.key(for: .encrypt, at: Self.now.unixSeconds).publicKey, intendedRecipient: recipient,
            at: signedAt.unixSeconds)
        let verifier = ReceiptVerifier(
            challenge: challenge, enrollment: enrollment, certificate: certificate.encoded, keys: keys,
            hasher: AskScene.hasher, now: Self.now)
        return await verifier.verify(sealed(message))
    }
}

extension AnswerVerdict {
    fileprivate var word: String {
        switch self {
        case .verified: "verified"
        case .invalid(let fault): fault.name
        case .wrongPIN: "wrong PIN"
        case .pinLocked: "PIN locked"
        case .wrongNumber: "wrong number"
        }
    }
}

@Suite("What makes an answer good, by one changed thing each")
struct ReceiptVerifierTests {
    typealias Change = @Sendable (inout ReceiptScene) -> Void

    private static let other = EntryNumber(value: 471_933)

    @Test("Every decision as it must be is verified, and what is kept of it is a good receipt offline")
    func right() async throws {
        let tap = try await ReceiptScene()
        var (denied, reported) = (tap, tap)
        denied.decision = .denied
        reported.decision = .reported
        for scene in [tap, try await ReceiptScene(by: .pin), denied, reported] {
            guard case .verified(let answer) = try await scene.verdict(),
                case .receipt(let message, let certificate) = answer.evidence
            else { throw World.Broken("\(scene.decision) is refused") }
            let receipt = try VerifiedReceipt(
                message: message.encoded, certificate: try Certificate(parsing: certificate),
                now: ReceiptScene.now.unixSeconds)
            #expect(receipt.signer.fingerprint == scene.signer.publicKey.fingerprint)
            #expect(answer.decision == scene.decision && answer.answeredAt == scene.answeredAt.wholeSeconds)
        }
    }

    /// What is changed of a right approval by the device's key, and what comes of it.
    static let taps: [(String, String, Change)] = [
        ("4: no message", "message", { $0.sealed = { _ in [1, 2, 3] } }),
        ("4: a message with more behind it", "message", { $0.sealed = { $0 + [0] } }),
        ("4: a signature over bytes", "signature", { $0.isBinary = true }),
        ("4: for somebody else", "signature", { $0.recipient = $0.holder.certificate.fingerprint }),
        ("4: dated before the asking", "signature", { $0.signedAt = $0.question.askedAt.adding(seconds: -61) }),
        ("4: dated after now", "signature", { $0.signedAt = ReceiptScene.now.adding(seconds: 61) }),
        ("5: another type", "text", { $0.text = { $0.replacing("type: confirm", with: "type: pin") } }),
        ("5: another message", "text", { $0.text = { $0 + "?" } }),
        ("5: no receipt", "text", { $0.text = { _ in "Countersign" } }),
        ("5: long before the asking", "time", { $0.answeredAt = $0.question.askedAt.adding(seconds: -61) }),
        ("5: as long before it as it may be", "verified", { $0.answeredAt = $0.question.askedAt.adding(seconds: -60) }),
        ("5: after now", "time", { $0.answeredAt = ReceiptScene.now.adding(seconds: 61) }),
        ("5: as long after it as it may be", "verified", { $0.answeredAt = ReceiptScene.now.adding(seconds: 60) }),
        ("6: a method that is not asked for", "method", { $0.methods = [.pin] }),
        (
            "6: a method that is not set", "method",
            {
                $0.methods = [.biometric]
                $0.decision = .approved(.biometric, number: AskScene.number)
            }
        ),
        ("6: no number", "method", { $0.decision = .approved(.confirm, number: nil) }),
        ("6: a number too much", "method", { $0.asksNumber = false }),
        ("6: a device that waits", "method", { $0.countsFrom = ReceiptScene.now.adding(seconds: 1) }),
        ("6: a suspended device", "method", { $0.isSuspended = true }),
        ("6: the PIN's key for a tap", "signer", { $0.signer = $0.pin }),
        ("6: a strange key", "signer", { $0.signer = $0.stranger }),
        ("7: another number", "wrong number", { $0.decision = .approved(.confirm, number: other) }),
        (
            "6 before 7", "signer",
            {
                $0.signer = $0.stranger
                $0.decision = .approved(.confirm, number: other)
            }
        ),
        (
            "5 before 6", "text",
            {
                $0.signer = $0.stranger
                $0.text = { $0 + "?" }
            }
        ),
        (
            "4 before 5", "signature",
            {
                $0.isBinary = true
                $0.text = { $0 + "?" }
            }
        ),
    ]

    /// The same of a right approval by a PIN.
    static let pins: [(String, String, Change)] = [
        ("6: another key is a wrong PIN", "wrong PIN", { $0.signer = $0.stranger }),
        ("6: the device's own too", "wrong PIN", { $0.signer = $0.holder.primary }),
        ("6: a locked PIN", "PIN locked", { $0.pinLockedAt = ReceiptScene.made }),
        (
            "6: a locked PIN, and a wrong one, look alike", "PIN locked",
            {
                $0.pinLockedAt = ReceiptScene.made
                $0.signer = $0.stranger
            }
        ),
        ("6: a PIN that waits", "method", { $0.pinCountsFrom = ReceiptScene.now.adding(seconds: 1) }),
        ("6: a key that the certificate has not", "time", { $0.certificate = $0.holder.certificate }),
        (
            "6: nor is a wrong PIN told there", "time",
            {
                $0.certificate = $0.holder.certificate
                $0.signer = $0.stranger
            }
        ),
        ("7: another number", "wrong number", { $0.decision = .approved(.pin, number: other) }),
        (
            "6 before 7: a wrong PIN says nothing of the number", "wrong PIN",
            {
                $0.signer = $0.stranger
                $0.decision = .approved(.pin, number: other)
            }
        ),
        ("6: no is not said by a PIN", "signer", { $0.decision = .denied }),
    ]

    @Test("Of an answer by the device's key", arguments: taps.indices)
    func tap(_ index: Int) async throws {
        try await expect(Self.taps[index], of: .confirm)
    }

    @Test("Of an answer by a PIN", arguments: pins.indices)
    func pin(_ index: Int) async throws {
        try await expect(Self.pins[index], of: .pin)
    }

    private func expect(_ row: (name: String, word: String, change: Change), of method: AnswerMethod) async throws {
        var scene = try await ReceiptScene(by: method)
        row.change(&scene)
        #expect(try await scene.verdict().word == row.word, "\(row.name)")
    }
}
