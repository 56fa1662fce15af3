import CountersignWire
import Crypto
import Encodings
import Foundation
import OpenPGP
import StorageTestSupport
import Testing

@testable import CountersignCore

/// The answers and acts of `docs/protocol/vectors`, which another implementation has made: what a device sends.
@Suite("docs/protocol/vectors: what devices seal, as the server judges it")
struct AnswerVectorTests {
    /// The server and the device of a file, as the server knows them.
    private struct Scene {
        let file: JSONValue
        let cases: [JSONValue]
        let issuer: Issuer
        let now: Timestamp
        let keys: IssuerKeys
        let certificate: Certificate
        let enrollment: Enrollment

        init(_ name: String) async throws {
            let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
                path: "../../docs/protocol/vectors")
            let file = try JSONValue(parsing: Array(Data(contentsOf: folder.appending(path: "\(name).json"))))
            let cases = try #require(file["cases"]?.array)
            try #require(cases.count > 5)
            let issuer = try #require(file["issuer"]?.string.flatMap { Issuer($0) })
            let now = Timestamp(seconds: try #require(file["now"]?.integer))
            let certificate = try Certificate(armored: try #require(file["device_certificate"]?.string))
            keys = try await Self.keys(of: file, issuer: issuer, at: now)
            enrollment = try Self.enrollment(in: file, certificate)
            (self.file, self.cases, self.issuer) = (file, cases, issuer)
            (self.now, self.certificate) = (now, certificate)
        }

        /// The server's keys of a file; the vectors have none for pushes.
        private static func keys(of file: JSONValue, issuer: Issuer, at now: Timestamp) async throws -> IssuerKeys {
            let others = try await IssuerKeyMaterial.make(issuer: issuer, at: now, random: SeededRandom(seed: 1)).keys
            let created = UnixSeconds(try #require(file["server_created"]?.integer))
            let given = file["server_private_keys"]
            let signing = try P256.Signing.PrivateKey(rawRepresentation: AnswerVectorTests.hex(given?["signing"]))
            let encryption = try P256.KeyAgreement.PrivateKey(
                rawRepresentation: AnswerVectorTests.hex(given?["encryption"]))
            return IssuerKeys(
                certificate: try Certificate(armored: try #require(file["server_certificate"]?.string)),
                signing: SigningKeyPair(signing, createdAt: created),
                decryption: [DecryptionKeyPair(encryption, createdAt: created)], push: others.push,
                pushKeys: others.pushKeys, tokens: others.tokens)
        }

        /// The enrollment of a certificate, whose subkeys stand in the order of the vectors.
        private static func enrollment(in file: JSONValue, _ certificate: Certificate) throws -> Enrollment {
            let subkeys = certificate.subkeys
            try #require(subkeys.count == 3 || subkeys.count == 4)
            let created = Timestamp(seconds: try #require(file["device_created"]?.integer))
            let keys = DeviceKeys(
                primary: certificate.primary, authentication: subkeys[0], encryption: subkeys[1])
            return Enrollment(
                id: try #require(file["enrollment"]?.string.flatMap { EnrollmentID($0) }),
                user: try #require(file["user"]?.string.flatMap { UserID($0) }),
                client: try #require(ClientID("cli_01m7yfdx0m5p3w9q8r7t6v5n4k")), state: .active,
                credential: .openPGP(keys),
                device: DeviceDescription(name: try DisplayLine("Phone"), storage: .software),
                pin: EnrolledPIN(key: subkeys[2], wrongCount: 0, lockedAt: nil, countsFrom: created),
                biometric: subkeys.count == 4 ? EnrolledBiometric(key: subkeys[3], countsFrom: created) : nil,
                createdAt: created, countsFrom: created)
        }
    }

    private static func hex(_ json: JSONValue?) throws -> [UInt8] {
        try #require(json?.string.flatMap { Hex.decode($0) })
    }

    /// An error in the words of the vectors: without modules and our own types.
    private static func words(of error: any Error) -> String {
        "\(error)".replacing(#/(?:\w+\.)+/#, with: "")
            .replacing(#/PacketTag\(rawValue: (\d+)\)/#) { "\($0.output.1)" }
    }

    @Test("Answers: each is good, or refused at the check that the vector names")
    func answers() async throws {
        let scene = try await Scene("sealed-answer")
        let text = try #require(scene.file["body"]?.string)
        let body = try ChallengeBody(JSONValue(parsing: Array(text.utf8)))
        let number = try #require(scene.file["number"]?.string.flatMap { EntryNumber($0) })
        let challenge = Challenge(
            question: body.question, user: body.user, alert: body.question.message, methods: body.methods,
            numberHash: AskScene.hasher.hash(of: number, challenge: body.question.challenge),
            expiresAt: body.expiresAt, callbackURI: nil, clientState: nil, locale: nil, state: .pending)
        let verifier = ReceiptVerifier(
            challenge: challenge, enrollment: scene.enrollment, certificate: scene.certificate.encoded,
            keys: scene.keys, hasher: AskScene.hasher, now: scene.now)
        for vector in scene.cases {
            let name = try #require(vector["name"]?.string)
            let verdict = await verifier.verify(try Self.hex(vector["message"]))
            let judged = Self.judged(verdict)
            #expect(judged.stage == vector["stage"]?.string, "\(name)")
            #expect(judged.error == vector["error"]?.string, "\(name)")
            guard case .verified(let answer) = verdict else { continue }
            switch answer.evidence {
            case .receipt(let message, let certificate):
                #expect(message.text == vector["text"]?.string, "\(name)")
                let receipt = try VerifiedReceipt(
                    message: message.encoded, certificate: try Certificate(parsing: certificate),
                    now: scene.now.unixSeconds)
                #expect("\(receipt.signer.fingerprint)" == vector["signer"]?.string, "\(name)")
            case .jwt, .event: Issue.record("\(name): a certificate signs receipts")
            }
        }
    }

    /// Where and why an answer is refused, in the words of the vectors.
    private static func judged(_ verdict: AnswerVerdict) -> (stage: String?, error: String?) {
        switch verdict {
        case .verified: (nil, nil)
        case .wrongPIN: ("signer", "wrongPIN")
        case .invalid(.message(let error)): ("message", words(of: error))
        case .invalid(.form(let refusal)): ("form", words(of: refusal))
        case .invalid(.text): ("text", "text")
        case .invalid(.signer): ("signer", "signer")
        case .invalid(let fault): ("other", fault.name)
        case .pinLocked: ("other", "pinLocked")
        case .wrongNumber: ("other", "wrongNumber")
        }
    }

    @Test("Acts on other devices: whose method has signed, or why it counts for nothing")
    func acts() async throws {
        let scene = try await Scene("device-act")
        let acts = scene.cases.filter { $0["operation"] == "act" }
        try #require(!acts.isEmpty)
        for vector in acts {
            let name = try #require(vector["name"]?.string)
            let judged = try await Self.judged(vector, in: scene)
            #expect(judged.stage == vector["stage"]?.string, "\(name)")
            #expect(judged.error == vector["error"]?.string, "\(name)")
            #expect(judged.method == vector["method"]?.string, "\(name)")
        }
    }

    /// Opens and judges an act in the order in which `ActOnDevice` does.
    private static func judged(
        _ vector: JSONValue, in scene: Scene
    ) async throws -> (stage: String?, error: String?, method: String?) {
        let sealed = try hex(vector["message"])
        let opened: UnverifiedMessage
        do {
            opened = try await scene.keys.openWithoutVerifying(
                sealed, intendedRecipient: scene.keys.certificate.fingerprint)
        } catch {
            return ("message", words(of: error), nil)
        }
        guard let act = String(strictUTF8: opened.content).flatMap({ DeviceAct($0) }) else {
            return ("text", "text", nil)
        }
        let lines = [
            ("issuer", "\(act.issuer)", scene.file["issuer"]),
            ("enrollment", "\(act.enrollment)", scene.file["enrollment"]),
            ("nonce", "\(act.nonce)", scene.file["nonce"]), ("act", act.kind.rawValue, vector["act"]),
            ("device", "\(act.device)", vector["device"]),
        ]
        let isForThis = act.isFor(
            try #require(scene.file["issuer"]?.string.flatMap { Issuer($0) }),
            try #require(vector["act"]?.string.flatMap { DeviceAct.Kind(rawValue: $0) }), by: scene.enrollment.id,
            on: try #require(vector["device"]?.string.flatMap { EnrollmentID($0) }))
        if let other = lines.first(where: { $0.1 != $0.2?.string }) {
            #expect(isForThis == (other.0 == "nonce"))
            return ("text", other.0, nil)
        }
        #expect(isForThis)
        switch MethodProof(opened, by: [.biometric, .pin], of: scene.enrollment, at: scene.now) {
        case .signed(let method): return (nil, nil, method.rawValue)
        case .wrongPIN: return ("signer", "wrongPIN", nil)
        case .invalid: return ("signer", "signer", nil)
        case .none, .missing, .pinLocked: return ("other", nil, nil)
        }
    }
}
