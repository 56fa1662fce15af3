import CountersignWire
import Crypto
import Encodings
import Foundation
import JOSE
import OpenPGP
import Testing

/// The vectors of `docs/protocol/vectors`, which a client in another language has made: what it makes we accept, and
/// what it makes wrongly we refuse for the same reason.
@Suite("docs/protocol/vectors: made by another implementation, read by ours")
struct ProtocolVectorTests {
    private let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "../../docs/protocol/vectors")

    private func file(_ name: String) throws -> JSONValue {
        try JSONValue(parsing: Array(Data(contentsOf: folder.appending(path: "\(name).json"))))
    }

    private func cases(of file: JSONValue) throws -> [JSONValue] {
        let cases = try #require(file["cases"]?.array)
        try #require(cases.count > 5)
        return cases
    }

    private func hex(_ json: JSONValue?) throws -> [UInt8] { try #require(json?.string.flatMap { Hex.decode($0) }) }

    /// Checks that a body throws the error whose words are expected; nil for none.
    private func expect(
        _ expected: JSONValue?, in name: String, sourceLocation: SourceLocation = #_sourceLocation,
        _ body: () throws -> Void
    ) {
        var found: String?
        do { try body() } catch { found = words(of: error) }
        #expect(found == expected?.string, "\(name)", sourceLocation: sourceLocation)
    }

    /// An error in the words of the vectors, which are those of no language: without modules, quotation marks and our
    /// own types.
    private func words(of error: any Error) -> String {
        "\(error)".replacing("\"", with: "").replacing(#/(?:\w+\.)+/#, with: "")
            .replacing(#/PacketTag\(rawValue: (\d+)\)/#) { "\($0.output.1)" }
    }

    @Test("Certificates of devices, and what is wrong with others")
    func certificates() throws {
        let file = try file("certificate")
        let userID = try #require(file["user_id"]?.string)
        let now = UnixSeconds(try #require(file["now"]?.integer))
        for vector in try cases(of: file) {
            let bytes = try hex(vector["certificate"])
            expect(vector["refusal"], in: vector["name"]?.string ?? "") {
                let (kept, _) = try DeviceKeys.enrolling(bytes, userID: userID, now: now)
                #expect(vector["canonical"]?.string == Hex.encode(kept.encoded))
            }
        }
    }

    @Test("Receipts: the text of each decision, what is none, and what does not verify")
    func receipts() throws {
        for vector in try cases(of: try file("receipt")) {
            let name = try #require(vector["name"]?.string)
            switch vector["operation"]?.string {
            case "render":
                let body = try ChallengeBody(JSONValue(parsing: Array(try #require(vector["body"]?.string).utf8)))
                let number = vector["number"]?.string.flatMap { EntryNumber($0) }
                let decision: Decision
                switch vector["decision"]?.string {
                case "approved":
                    decision = .approved(
                        try #require(vector["method"]?.string.flatMap { AnswerMethod(rawValue: $0) }), number: number)
                case "denied": decision = .denied
                default: decision = .reported
                }
                let custom = try vector["sealed_custom_data"]?.string.map { _ in
                    Array(SHA256.hash(data: try hex(vector["sealed_custom_data"])))
                }
                let receipt = Receipt(
                    of: body.question, user: body.user,
                    device: try #require(vector["device"]?.string.flatMap { Fingerprint($0[...]) }),
                    decision: decision, customDataHash: custom,
                    answeredAt: try #require(vector["answered"]?.string.flatMap { Timestamp($0) }))
                #expect(receipt.text == vector["text"]?.string, "\(name)")
                #expect(try Receipt(parsing: receipt.text) == receipt, "\(name)")
            case "parse":
                expect(vector["error"], in: name) { _ = try Receipt(parsing: vector["text"]?.string ?? "") }
            default:
                let certificate = try Certificate(armored: vector["certificate"]?.string ?? "")
                let now = UnixSeconds(try #require(vector["now"]?.integer))
                expect(vector["error"], in: name) {
                    let verified = try VerifiedReceipt(
                        message: vector["receipt"]?.string ?? "", certificate: certificate, now: now)
                    #expect("\(verified.signer.fingerprint)" == vector["signer"]?.string, "\(name)")
                }
            }
        }
    }

    @Test("RFC 9421: signed requests, and why others are refused")
    func requests() throws {
        let file = try file("request-signature")
        let issuer = try #require(file["issuer"]?.string)
        let key = try P256.Signing.PublicKey(x963Representation: hex(file["authentication_public_key"]))
        let serverTime = try #require(file["server_time"]?.integer)
        let known = try #require(file["known_enrollments"]?.array).map(\.string)
        let fingerprint = try #require(file["fingerprint"]?.string)
        for vector in try cases(of: file) {
            let name = try #require(vector["name"]?.string)
            let fields = vector["fields"]
            let code = vector["code"]?.string
            expect(vector["error"], in: name) {
                let signature = try UnverifiedRequestSignature(
                    input: fields?["Signature-Input"]?.string, signature: fields?["Signature"]?.string)
                let keyID = signature.parameters.keyID
                if vector["target"] == "/v1/enrollments" {
                    // There is no enrollment yet: the certificate in the body names the key.
                    guard keyID == fingerprint else { throw MessageSignatureError.parameter("keyid") }
                } else {
                    guard known.contains(keyID) else { return #expect(code == "unknown_enrollment") }
                }
                let request = SignedRequest(
                    method: vector["method"]?.string ?? "", targetURI: issuer + (vector["target"]?.string ?? ""),
                    contentDigest: fields?["Content-Digest"]?.string, authorization: fields?["Authorization"]?.string)
                try signature.verify(request, body: Array((vector["body"]?.string ?? "").utf8), by: key)
                let isInTime = abs(signature.parameters.created - serverTime) <= 60
                #expect(code == (isInTime ? nil : "clock_skew"), "\(name)")
            }
        }
    }

    @Test("RFC 7515: pushes, and why others are refused")
    func pushes() throws {
        let file = try file("push-envelope")
        let issuer = try #require(file["issuer"]?.string.flatMap { Issuer($0) })
        let enrollment = try #require(file["enrollment"]?.string.flatMap { EnrollmentID($0) })
        let keys = try JWKSet(try #require(file["push_keys"]))
        let skew = try #require(file["skew"]?.integer)
        for vector in try cases(of: file) {
            let payload = try JSONValue(parsing: Array(try #require(vector["payload"]?.string).utf8))
            let now = Timestamp(seconds: try #require(vector["now"]?.integer))
            expect(vector["error"], in: vector["name"]?.string ?? "") {
                _ = try PushEnvelope(
                    verifying: payload, issuer: issuer, enrollment: enrollment, keys: keys, now: now, skew: skew)
            }
        }
    }

    @Test("RFC 7523 §3: assertions of a device, and others that are refused")
    func assertions() throws {
        let file = try file("assertion")
        let issuer = try #require(file["issuer"]?.string.flatMap { Issuer($0) })
        let key = try P256.Signing.PublicKey(x963Representation: hex(file["authentication_public_key"]))
        for vector in try cases(of: file) {
            let name = try #require(vector["name"]?.string)
            let now = Timestamp(seconds: try #require(vector["now"]?.integer))
            let read = DeviceAssertion(
                try #require(vector["assertion"]?.string), by: key, at: issuer,
                for: try #require(vector["client"]?.string), now: now, tolerance: 60)
            #expect((read != nil) == vector["valid"]?.bool, "\(name)")
            guard let read else { continue }
            let claims = try JSONValue(parsing: Array(try #require(vector["claims"]?.string).utf8))
            #expect("\(read.enrollment)" == file["enrollment"]?.string && "\(read.user)" == file["user"]?.string)
            #expect(read.challenge.map { "\($0)" } == claims["challenge"]?.string, "\(name)")
            #expect(read.name == claims["jti"]?.string && read.expiresAt == claims["exp"]?.integer, "\(name)")
        }
    }

    @Test("Changes of methods: their texts, and the certificates that they bring")
    func changes() throws {
        for vector in try cases(of: try file("method-change")) {
            let name = try #require(vector["name"]?.string)
            let text = try #require(vector["text"]?.string)
            switch vector["operation"]?.string {
            case "change":
                guard let change = MethodChange(text) else {
                    Issue.record("\(name): not a change")
                    continue
                }
                #expect(change.text == text, "\(name)")
                let stored = try Certificate(parsing: try hex(vector["stored_certificate"]))
                let now = UnixSeconds(try #require(vector["now"]?.integer))
                expect(vector["refusal"], in: name) {
                    let grown = try DeviceKeys.grown(stored, by: change, now: now).certificate
                    #expect(Hex.encode(grown.encoded) == vector["grown_certificate"]?.string, "\(name)")
                }
            case "custom":
                guard let change = AuthenticatorChange(text) else {
                    Issue.record("\(name): not a change of an authenticator")
                    continue
                }
                #expect(change.text == text && "\(change.name)" == vector["authenticator"]?.string, "\(name)")
            case "parse":
                let isOfKey = MethodChange(text).map { $0.method != .confirm } ?? false
                let isChange = isOfKey || AuthenticatorChange(text) != nil
                #expect(isChange == (vector["valid"] == true), "\(name)")
            default:
                #expect(CustomData(parsing: text)?.data == vector["data"]?.string, "\(name)")
                #expect(CustomData(try #require(vector["data"]?.string))?.text == text, "\(name)")
            }
        }
    }

    @Test("Removal notices: which a device believes, and why no others")
    func notices() throws {
        let file = try file("removal-notice")
        let issuer = try #require(file["issuer"]?.string.flatMap { Issuer($0) })
        let enrollment = try #require(file["enrollment"]?.string.flatMap { EnrollmentID($0) })
        let now = UnixSeconds(try #require(file["now"]?.integer)) + 60
        for vector in try cases(of: file) {
            let name = try #require(vector["name"]?.string)
            let message = try #require(vector["notice"]?.string)
            let stage = vector["stage"]?.string
            let certificate = try Certificate(armored: try #require(vector["certificate"]?.string))
            var isRevoked = false
            expect(stage == "message" ? vector["error"] : nil, in: name) {
                let signed = try CleartextMessage(parsing: message)
                isRevoked = try signed.verify(by: certificate, now: now).revokedAt != nil
            }
            #expect(isRevoked == (stage == "signer"), "\(name)")
            let notice = RemovalNotice(
                verifying: message, issuer: issuer, enrollment: enrollment, certificate: certificate, now: now)
            #expect(notice?.text == (stage == nil ? vector["text"]?.string : nil), "\(name)")
        }
    }

    @Test("Acts on other devices: their texts, and what is none")
    func acts() throws {
        for vector in try cases(of: try file("device-act")) {
            let name = try #require(vector["name"]?.string)
            let text = try #require(vector["text"]?.string)
            let act = DeviceAct(text)
            #expect(act == nil || act?.text == text, "\(name)")
            switch vector["operation"]?.string {
            case "parse": #expect((act != nil) == (vector["valid"] == true), "\(name)")
            default:
                #expect((act == nil) == (vector["error"] == "text"), "\(name)")
                guard vector["valid"] == true else { continue }
                #expect(act?.kind.rawValue == vector["act"]?.string, "\(name)")
                #expect(act.map { "\($0.device)" } == vector["device"]?.string, "\(name)")
            }
        }
    }

    @Test("Codes and invitations: what a device reads, and what it does not", arguments: ["shown-text", "codes"])
    func shownTexts(_ name: String) throws {
        let file = try file(name)
        let issuer = try #require(file["issuer"]?.string.flatMap { Issuer($0) })
        for vector in try cases(of: file) {
            let name = try #require(vector["name"]?.string)
            let text = try #require(vector["text"]?.string)
            let expected = try vector["read"]?.string.map { try JSONValue(parsing: Array($0.utf8)) }
            switch vector["operation"]?.string {
            case "picture": #expect(ChallengeCode(text)?.claim == expected, "\(name)")
            case "link": #expect(ChallengeCode(link: text, to: issuer)?.claim == expected, "\(name)")
            case "invitation":
                let invitation = EnrollmentInvitation(text).flatMap { $0.issuer == issuer ? $0 : nil }
                #expect(invitation?.text == expected.map { Base64.encode($0.encoded) }, "\(name)")
            case let other: Issue.record("\(name): \(other ?? "no operation")")
            }
        }
    }

    @Test("Links: where a device goes back to, and the message that brings the code")
    func returns() async throws {
        let file = try file("return-message")
        for vector in try cases(of: file) {
            let name = try #require(vector["name"]?.string)
            let place = ReturnURI(try #require(vector["return_uri"]?.string), isDevelopment: false)
            if vector["operation"] == "uri" {
                let code = try #require(vector["code"]?.string)
                #expect((place != nil) == (vector["valid"] == true), "\(name)")
                #expect(place?.bringing(Secret(code)).reveal() == vector["url"]?.string, "\(name)")
                continue
            }
            let read = try await returned(vector, of: file)
            #expect(read.stage == vector["stage"]?.string, "\(name)")
            #expect(read.error == vector["error"]?.string, "\(name)")
            #expect(read.code?.reveal() == vector["code"]?.string, "\(name)")
            let url = read.code.flatMap { place?.bringing($0).reveal() }
            #expect(url == vector["url"]?.string, "\(name)")
        }
    }

    /// Opens a return message as a device does: the code, or where and why it is refused.
    private func returned(
        _ vector: JSONValue, of file: JSONValue
    ) async throws -> (stage: String?, error: String?, code: Secret<String>?) {
        let key = try P256.KeyAgreement.PrivateKey(
            rawRepresentation: hex(file["device_private_keys"]?["encryption"]))
        let created = UnixSeconds(try #require(file["device_created"]?.integer))
        let device = try Certificate(armored: try #require(file["device_certificate"]?.string))
        let server = try Certificate(armored: try #require(file["server_certificate"]?.string))
        let message = try hex(vector["message"])
        let now = UnixSeconds(try #require(vector["now"]?.integer)) + 60
        let opened: VerifiedMessage
        do {
            opened = try await EncryptedMessage.open(
                message, with: DecryptionKeyPair(key, createdAt: created), signers: server.keys,
                intendedRecipient: device.fingerprint, now: now)
        } catch {
            return ("message", words(of: error), nil)
        }
        guard opened.signature.type == .binary else { return ("body", "signatureType", nil) }
        guard let json = try? JSONValue(parsing: opened.content) else { return ("body", "json", nil) }
        let read: ReturnMessage
        do throws(JSONShapeError) {
            read = try ReturnMessage(json)
        } catch {
            switch error {
            case .missing(let pointer), .invalid(let pointer, _), .unknownMember(let pointer):
                return ("body", pointer, nil)
            }
        }
        let expected = [
            ("issuer", "\(read.issuer)", file["issuer"]), ("challenge", "\(read.challenge)", vector["challenge"]),
            ("enrollment", "\(read.enrollment)", file["enrollment"]),
        ]
        let isForThis = read.isFor(
            try #require(file["issuer"]?.string.flatMap { Issuer($0) }),
            try #require(vector["challenge"]?.string.flatMap { ChallengeID($0) }),
            by: try #require(file["enrollment"]?.string.flatMap { EnrollmentID($0) }))
        let other = expected.first { $0.1 != $0.2?.string }
        #expect(isForThis == (other == nil))
        if let other { return ("purpose", other.0, nil) }
        return (nil, nil, read.code)
    }
}
