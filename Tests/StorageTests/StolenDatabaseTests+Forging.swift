import CountersignStorage
import CountersignWire
import Crypto
import Encodings
import JOSE
import OpenPGP
import StorageTestSupport
import TestSupport
import Testing

@testable import CountersignCore

/// What devices believe, and what relying parties keep.
extension StolenDatabaseTests {
    /// A pair of keys of the thief's own.
    private func ownKey(_ theft: Theft) -> SigningKeyPair {
        SigningKeyPair(P256.Signing.PrivateKey(), createdAt: theft.world.time.now.unixSeconds)
    }

    /// The private keys that the master key opens, as signers.
    private func serverKeys(_ opened: StolenCopy.Opened) throws -> [SigningKeyPair] {
        try opened.privateKeys.map { SigningKeyPair($0, createdAt: opened.material.createdAt) }
    }

    /// Why the server lets no device in.
    private func refusal(of request: DeviceRequest, _ theft: Theft) async throws -> DeviceProofError? {
        guard case .refused(.proof(let error)) = try await VerifyDevice.verify(request, ports: theft.world.ports)
        else { return nil }
        return error
    }

    @Test(
        "Forging an answer fails always: no private key of a device is in a copy",
        arguments: StolenCopy.Way.allCases)
    func answer(_ way: StolenCopy.Way) async throws {
        let theft = try await Theft(by: way)
        let (device, id) = (theft.device, theft.asked.challenge.id)
        let opened = try await theft.opened()
        for key in try [P256.Signing.PrivateKey()] + opened.privateKeys {
            #expect(try await refusal(of: device.request(signedBy: key), theft) == .invalid)
        }
        // Had the thief the key for requests as well: the text is right, its number known by the master key.
        let question = try #require(try await opened.store.read { try $0.challenges.find(id) })
        let receipt = Receipt(
            of: question.question, user: theft.user, device: device.certificate.fingerprint,
            decision: .approved(.confirm, number: theft.asked.number), answeredAt: theft.world.time.now)
        for key in try [ownKey(theft)] + serverKeys(opened) {
            let forged = try await device.seal(receipt.text, signedBy: key)
            guard case .invalid(let fault) = try await device.answer(id, with: forged) else {
                Issue.record("the answer was taken")
                continue
            }
            #expect(fault == .signer)
        }
        guard case .decided(let reply) = try await device.answer(id, with: try await device.seal(receipt.text)) else {
            Issue.record("the device's own answer was not taken")
            return
        }
        #expect(reply.status.state == "approved")
    }

    @Test(
        "Forging a receipt of a device fails always; one of a device that the thief made up names another certificate",
        arguments: StolenCopy.Way.allCases)
    func receipt(_ way: StolenCopy.Way) async throws {
        let theft = try await Theft(by: way)
        let opened = try await theft.opened()
        let now = theft.world.time.now.unixSeconds
        let row = try #require(
            theft.copy.rows["receipts"]?.first { $0["challenge_id"] == .text("\(theft.approved.challenge.id)") })
        guard case .text(let text) = row["text"], case .blob(let body) = row["signature"],
            case .blob(let encoded) = row["certificate"]
        else { throw World.Broken("receipt") }
        let certificate = try Certificate(parsing: encoded)
        let kept = try CleartextMessage(text: text, signature: try Signature(parsing: body))
        let verified = try VerifiedReceipt(message: kept.encoded, certificate: certificate, now: now)
        #expect(verified.receipt.user == theft.user)
        let altered = text.replacing("EUR 1,250.00", with: "EUR 9,250.00")
        #expect(altered != text)
        let moved = try CleartextMessage(text: altered, signature: kept.signature)
        #expect(throws: ReceiptRefusal.signature(.badSignature)) {
            _ = try VerifiedReceipt(message: moved.encoded, certificate: certificate, now: now)
        }
        for key in try [ownKey(theft)] + serverKeys(opened) {
            let forged = try await CleartextMessage.sign(altered, by: key, at: now)
            #expect(throws: ReceiptRefusal.signature(.unknownSigner)) {
                _ = try VerifiedReceipt(message: forged.encoded, certificate: certificate, now: now)
            }
        }
        let device = try await TestDevice(theft.device.invitation, in: theft.world)
        let own = altered.replacing("\(certificate.fingerprint)", with: "\(device.certificate.fingerprint)")
        let forged = try await CleartextMessage.sign(own, by: device.primary, at: now).encoded
        #expect(throws: ReceiptRefusal.wrongDevice) {
            _ = try VerifiedReceipt(message: forged, certificate: certificate, now: now)
        }
        // It is good for a certificate that nobody was ever told of: compare it with what was told on enrolling.
        _ = try VerifiedReceipt(message: forged, certificate: device.certificate, now: now)
    }

    @Test(
        "Forging a question and a notice of removal fails without the master key, and not with it",
        arguments: StolenCopy.Way.allCases)
    func serverSigned(_ way: StolenCopy.Way) async throws {
        let theft = try await Theft(by: way)
        let opened = try await theft.opened()
        let (device, pinned) = (theft.device, try theft.world.issuerKeys.certificate)
        let now = theft.world.time.now
        let body = ChallengeBody(
            question: try await theft.world.challenge(theft.asked).question, user: theft.user,
            enrollment: device.enrollment,
            methods: [.confirm], numberEntry: nil, expiresAt: now.adding(seconds: 60), locale: nil)
        /// A question as the device opens it.
        func ask(signedBy key: SigningKeyPair) async throws -> JSONValue {
            let sealed = try await EncryptedMessage.seal(
                .binary(body.json.encoded), signedBy: key, to: device.encryption.publicKey,
                intendedRecipient: device.certificate.fingerprint, at: now.unixSeconds)
            let message = try await EncryptedMessage.open(
                sealed, with: device.encryption, signers: pinned.keys,
                intendedRecipient: device.certificate.fingerprint, now: now.unixSeconds)
            return try JSONValue(parsing: message.content)
        }
        let removal = RemovalNotice(
            issuer: theft.world.ports.issuer, enrollment: device.enrollment, removedAt: now, reason: .client)
        /// A notice as the device reads it.
        func remove(signedBy key: SigningKeyPair) async throws -> RemovalNotice? {
            let message = try await CleartextMessage.sign(removal.text, by: key, at: now.unixSeconds).encoded
            return RemovalNotice(
                verifying: message, issuer: theft.world.ports.issuer, enrollment: device.enrollment,
                certificate: pinned, now: now.unixSeconds)
        }
        let own = ownKey(theft)
        await #expect(throws: OpenPGPError.unknownSigner) { _ = try await ask(signedBy: own) }
        #expect(try await remove(signedBy: own) == nil)
        #expect(try await ask(signedBy: opened.ports.keys.current().signing) == body.json)
        #expect(try await remove(signedBy: opened.ports.keys.current().signing) == removal)
        // The private halves fit what devices have pinned: it is not enough to renew the master key.
        #expect(opened.material.certificate.fingerprint == device.invitation.fingerprint)
    }

    @Test(
        "Forging a push fails without the master key, and not with it; it authorises nothing",
        arguments: StolenCopy.Way.allCases)
    func push(_ way: StolenCopy.Way) async throws {
        let theft = try await Theft(by: way)
        let opened = try await theft.opened()
        let (world, now) = (theft.world, theft.world.time.now)
        let envelope = PushEnvelope(
            issuer: world.ports.issuer, enrollment: theft.device.enrollment, challenge: theft.asked.challenge.id,
            challengeType: theft.asked.challenge.type, issuedAt: now, expiresAt: now.adding(seconds: 60),
            alert: PushAlert(title: "ACME Shop", body: "Pay EUR 9,250.00 to ACME GmbH?"))
        /// A push as the device reads it.
        func send(signedBy key: P256.Signing.PrivateKey, as keyID: String) async throws -> PushEnvelope {
            let payload = try await envelope.signed(by: key, keyID: keyID, category: .review, badge: 1).payload
            return try PushEnvelope(
                verifying: payload, issuer: world.ports.issuer, enrollment: theft.device.enrollment,
                keys: try world.issuerKeys.pushKeys, now: now, skew: 60)
        }
        let keyID = try world.issuerKeys.pushKeyID
        let own = P256.Signing.PrivateKey()
        await #expect(throws: PushRefusal.signature(.badSignature)) { _ = try await send(signedBy: own, as: keyID) }
        await #expect(throws: PushRefusal.signature(.unknownKeyID)) { _ = try await send(signedBy: own, as: "own") }
        #expect(try await send(signedBy: opened.ports.keys.current().push, as: keyID) == envelope)
    }

    @Test(
        "Reading answers off the network fails without the master key, and not with it, however old they are",
        arguments: StolenCopy.Way.allCases)
    func recordedTraffic(_ way: StolenCopy.Way) async throws {
        let theft = try await Theft(by: way)
        let opened = try await theft.opened()
        let own = DecryptionKeyPair(
            P256.KeyAgreement.PrivateKey(), createdAt: theft.world.time.now.unixSeconds)
        await #expect(throws: OpenPGPError.notForThisKey) {
            _ = try await EncryptedMessage.openWithoutVerifying(theft.answer, with: own, intendedRecipient: nil)
        }
        let read = try await opened.ports.keys.current().openWithoutVerifying(theft.answer, intendedRecipient: nil)
        #expect(String(decoding: read.content, as: UTF8.self).contains(Theft.message))
    }

    @Test(
        "Replaying fails always: what is kept of requests and answers has no signature, and counts once",
        arguments: StolenCopy.Way.allCases)
    func replay(_ way: StolenCopy.Way) async throws {
        let theft = try await Theft(by: way)
        let device = theft.device
        let nonce = try #require(
            theft.copy.rows["nonces"]?.first { $0["key_id"] == .text("\(device.enrollment)") }?["nonce"])
        guard case .text(let used) = nonce else { throw World.Broken("nonce") }
        let request = try await device.request(nonce: used, signedBy: P256.Signing.PrivateKey())
        #expect(try await refusal(of: request, theft) == .invalid)
        // Sent by the device itself, which has the key, it is refused for its nonce.
        let call = try await device.call(nonce: used)
        guard
            case .refused(.nonceReplayed) = try await OpenChallenge.open(
                theft.asked.challenge.id, for: call, ports: theft.world.ports)
        else {
            Issue.record("the nonce was taken twice")
            return
        }
        // An answer that somebody read off the network, put to another question.
        guard case .invalid(let fault) = try await device.answer(theft.asked.challenge.id, with: theft.answer) else {
            Issue.record("the answer was taken twice")
            return
        }
        #expect(fault == .otherChallenge)
    }
}
