import CountersignWire
import Encodings
import OpenPGP
import TestSupport
import Testing

/// What `countersign verify` compares, found with the other programs alone.
@Suite("A receipt's device and method, compared with what a peer says of its signature")
struct PeerReceiptTests {
    /// What a peer found out about who signed.
    struct DiagnosticResult: Equatable {
        /// The fingerprint of the signer's primary key.
        let device: String
        /// What the notation `method@<host>` of the signing key says; without one the primary key signed.
        let method: String
    }

    private static let host = SoftwareKeys.host

    static func receipt(device: Fingerprint, method: String) -> String {
        "Countersign receipt v1\nissuer: https://\(host)\ndevice: \(device)\ndecision: approved\nmethod: \(method)"
    }

    /// What the receipt says.
    private static func claim(_ text: String) throws -> DiagnosticResult {
        let device = try #require(text.firstMatch(of: /(?m)^device: (.*)$/))
        let method = try #require(text.firstMatch(of: /(?m)^method: (.*)$/))
        return DiagnosticResult(device: String(device.output.1), method: String(method.output.1))
    }

    /// Verifies with a peer, looks the key up among those it lists, and the notation in its dump of the certificate.
    private static func find(_ signed: [UInt8], with name: PeerName, _ certificates: [Certificate]) throws
        -> DiagnosticResult?
    {
        let peer = try name.start()
        for certificate in certificates { try peer.learn(certificate) }
        guard case .good(let keyID) = try peer.verify(signed, .cleartext, over: []) else { return nil }
        for certificate in certificates {
            let keys = try peer.list(certificate)
            guard keys.contains(where: { $0.fingerprint.hasSuffix(keyID) }) else { continue }
            let dump = try peer.packets(certificate).lowercased()
            let own = dump[try #require(dump.firstRange(of: keyID.lowercased())).upperBound...]
            let next = own.firstMatch(of: /public[- ](?:sub ?)?key packet/)?.range.lowerBound ?? own.endIndex
            let notation = own[..<next].firstMatch(
                of: /method@login\.example\.com(?: \(human readable\))?[:= ]+([a-z]+)/)
            return DiagnosticResult(
                device: try #require(keys.first).fingerprint,
                method: notation.map { String($0.output.1) } ?? "confirm")
        }
        return nil
    }

    @Test(
        "A receipt says of itself what a peer finds: the primary key, or the subkey of the method",
        arguments: PeerName.installed)
    func honest(name: PeerName) async throws {
        let (keys, other) = (try await SoftwareKeys(), try await SoftwareKeys(userID: "other <other@example.com>"))
        for (method, signer) in [("confirm", keys.primary), ("pin", try #require(keys.pin))] {
            let text = Self.receipt(device: keys.certificate.fingerprint, method: method)
            let signed = try await CleartextMessage.sign(text, by: signer, at: SoftwareKeys.time).encoded
            let found = try Self.find(Array(signed.utf8), with: name, [other.certificate, keys.certificate])
            #expect(try found == Self.claim(text))
        }
    }

    @Test(
        "A receipt that names another device, or another method, is good for a peer; the comparison finds it out",
        arguments: PeerName.installed)
    func dishonest(name: PeerName) async throws {
        let (keys, other) = (try await SoftwareKeys(), try await SoftwareKeys(userID: "other <other@example.com>"))
        let (device, otherDevice) = (keys.certificate.fingerprint, other.certificate.fingerprint)
        let pin = try #require(keys.pin)
        for (text, signer) in [
            (Self.receipt(device: otherDevice, method: "confirm"), keys.primary),
            (Self.receipt(device: device, method: "pin"), keys.primary),
            (Self.receipt(device: device, method: "biometric"), pin),
            (Self.receipt(device: device, method: "confirm"), pin),
        ] {
            let signed = try await CleartextMessage.sign(text, by: signer, at: SoftwareKeys.time).encoded
            let found = try #require(
                try Self.find(Array(signed.utf8), with: name, [other.certificate, keys.certificate]))
            #expect(try found != Self.claim(text), "\(text)")
            #expect(
                found
                    == DiagnosticResult(
                        device: "\(device)", method: signer.publicKey.fingerprint == device ? "confirm" : "pin"))
        }
    }

    @Test("The receipts that another device signed are refused by us, too", arguments: ["device", "stranger"])
    func refusals(kind: String) async throws {
        let (keys, other) = (try await SoftwareKeys(), try await SoftwareKeys())
        let time = Timestamp(seconds: Int64(SoftwareKeys.time))
        let question = Question(
            challenge: ChallengeID(at: time, random: [UInt8](repeating: 1, count: 10)),
            nonce: try #require(Nonce(bytes: Array(0..<32))), issuer: try #require(Issuer("https://\(Self.host)")),
            client: ClientID(at: time, random: [UInt8](repeating: 2, count: 10)), clientName: try ClientName("Acme"),
            type: .confirm,
            context: nil, askedAt: time, details: [], signingData: nil, message: try DisplayMessage("Pay?"))
        let receipt = Receipt(
            of: question, user: UserID(at: time, random: [UInt8](repeating: 3, count: 10)),
            device: keys.certificate.fingerprint, decision: .approved(.confirm, number: nil),
            answeredAt: time.adding(seconds: 31))
        let now = SoftwareKeys.time + 60
        let signer = kind == "device" ? try #require(keys.pin) : other.primary
        let message = try await CleartextMessage.sign(receipt.text, by: signer, at: SoftwareKeys.time + 31).encoded
        let refusal = kind == "device" ? ReceiptRefusal.wrongSigner : .signature(.unknownSigner)
        #expect(throws: refusal) {
            try VerifiedReceipt(message: message, certificate: keys.certificate, now: now)
        }
        #expect(throws: ReceiptRefusal.wrongDevice) {
            try VerifiedReceipt(message: message, certificate: other.certificate, now: now)
        }
    }
}
