import OpenPGP
import OpenPGPTestSupport
import TestSupport
import Testing

/// What may stand in the signature of an answer, held against the programs that shall read receipts.
@Suite("The form of an answer's signature")
struct PeerAnswerFormTests {
    private static func verdict(
        of form: AnswerForm, by name: PeerName, canonical: Bool
    ) async throws -> (Verdict, Fingerprint) {
        let keys = try await SoftwareKeys()
        let text = PeerReceiptTests.receipt(device: keys.certificate.fingerprint, method: "confirm")
        let areas = form.areas(
            signer: keys.certificate.fingerprint,
            recipient: try await SoftwareKeys(userID: "server").certificate.fingerprint, asked: SoftwareKeys.time,
            now: SoftwareKeys.time + 31)
        var signature = try await HandmadeSignature.make(
            over: text, by: keys.primary, hashed: areas.hashed, unhashed: areas.unhashed)
        if canonical { signature = try signature.canonical(by: keys.certificate.fingerprint) }
        let message = try CleartextMessage(text: text, signature: signature).encoded
        let peer = try name.start()
        try peer.learn(keys.certificate)
        return (try peer.verify(Array(message.utf8), .cleartext, over: []), keys.certificate.fingerprint)
    }

    @Test(
        "What is admitted is good for every peer, in the form in which it is served", arguments: PeerName.installed,
        AnswerForm.allCases.filter(\.isAdmitted))
    func admitted(name: PeerName, form: AnswerForm) async throws {
        let (verdict, signer) = try await Self.verdict(of: form, by: name, canonical: true)
        #expect(verdict == .good(signer), "\(name) \(form)")
    }

    @Test(
        "What is refused was good for us and is not for some peer",
        arguments: [
            (PeerName.gpg, AnswerForm.lifetime), (.gpg, .longCovered), (.gpg, .longUncovered), (.sq, .lifetime),
            (.sq, .dated1980), (.gpg, .dated1980),
        ])
    func refused(name: PeerName, form: AnswerForm) async throws {
        guard PeerName.installed.contains(name) else { return }
        let (verdict, signer) = try await Self.verdict(of: form, by: name, canonical: false)
        #expect(verdict != .good(signer), "\(name) \(form)")
    }
}
