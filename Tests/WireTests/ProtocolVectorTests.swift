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
        do { try body() } catch {
            // The words of the vectors are those of no language: without modules, quotation marks and our own types.
            found = "\(error)".replacing("\"", with: "").replacing(#/(?:\w+\.)+/#, with: "")
                .replacing(#/PacketTag\(rawValue: (\d+)\)/#) { "\($0.output.1)" }
        }
        #expect(found == expected?.string, "\(name)", sourceLocation: sourceLocation)
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
        for vector in try cases(of: file) {
            let name = try #require(vector["name"]?.string)
            let fields = vector["fields"]
            let code = vector["code"]?.string
            expect(vector["error"], in: name) {
                let signature = try UnverifiedRequestSignature(
                    input: fields?["Signature-Input"]?.string, signature: fields?["Signature"]?.string)
                guard known.contains(signature.parameters.keyID) else { return #expect(code == "unknown_enrollment") }
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
}
