import CountersignWire
import Crypto
import Encodings
import Foundation
import OpenPGP
import Testing

@testable import Countersign

/// What the SDK makes, which our own readers judge here, and the client of `docs/protocol/client` by the pages.
///
/// For that client it stands in files of the form of the vectors, in the folder that COUNTERSIGN_MADE_VECTORS names.
@Suite("docs/protocol: what the SDK makes, judged by our readers and by another implementation")
struct MadeVectorTests {
    private let client = "cli_00000000000000000000000000"

    @Test("Sealed answers, a change of methods, signed requests and assertions")
    func made() async throws {
        let stub = try await StubServer()
        let (recorder, vault) = (RecordingServer(stub), MemoryVault())
        let app = try await Authenticator(
            issuer: try #require(URL(string: "\(stub.issuer)")),
            app: AppDescription(name: "Acme", version: "1", deviceName: "Phone"), vault: vault, transport: recorder)
        let enrollment = try await app.enroll(with: .ticket(stub.invitation))
        let pin = try PIN("83517")
        try await enrollment.setPIN(pin)
        var honest = stub.honest
        honest["methods"] = ["pin", "confirm"]
        let question = try await app.opened(try ChallengeBody(.object(honest)))
        try await question.approve(with: .confirmation, number: "471932")
        try await question.approve(with: .pin(pin), number: "471932")

        let id = stub.enrollment
        let kept = (
            await vault.signingKey(.primary, of: id), await vault.signingKey(.authentication, of: id),
            await vault.agreementKey(.encryption, of: id)
        )
        let primary = try #require(kept.0 as? P256.Signing.PrivateKey)
        let authentication = try #require(kept.1 as? P256.Signing.PrivateKey)
        let encryption = try #require(kept.2 as? P256.KeyAgreement.PrivateKey)
        let device = try #require(stub.device)
        let (changed, grown) = try await change(recorder, of: device)
        let now = JSONValue.integer(StubServer.now.seconds)
        let file = JSONObject([
            "description": "Made by our SDK.", "issuer": .string("\(stub.issuer)"), "user": .string("\(stub.user)"),
            "enrollment": .string("\(id)"), "known_enrollments": [.string("\(id)")], "now": now, "server_time": now,
            "fingerprint": .string("\(device.fingerprint)"), "device_certificate": .string(grown.armored),
            "device_created": .integer(Int64(device.primary.publicKey.createdAt)),
            "device_private_keys": [
                "primary": hex(primary.rawRepresentation), "authentication": hex(authentication.rawRepresentation),
                "encryption": hex(encryption.rawRepresentation),
            ],
            "authentication_private_key": hex(authentication.rawRepresentation),
            "authentication_public_key": hex(authentication.publicKey.x963Representation),
            "server_certificate": .string(stub.certificate.armored),
            "server_created": .integer(Int64(stub.encryption.publicKey.createdAt)),
            "server_private_keys": ["encryption": hex(stub.agreement.rawRepresentation)],
            "body": .string(String(decoding: JSONValue.object(honest).encoded, as: UTF8.self)), "number": "471932",
        ])
        try write(file, [changed], as: "method-change")
        try write(file, try await answers(recorder, of: grown), as: "sealed-answer")
        try write(file, try requests(recorder, by: authentication.publicKey), as: "request-signature")
        try write(file, try await assertions(enrollment, by: authentication.publicKey), as: "assertion")
    }

    private func hex(_ bytes: some Sequence<UInt8>) -> JSONValue { .string(Hex.encode(bytes)) }

    private func open(
        _ message: [UInt8], at stub: StubServer, by signers: [CertifiedKey]
    ) async throws -> (text: String, signer: Fingerprint) {
        let opened = try await EncryptedMessage.open(
            message, with: stub.encryption, signers: signers, intendedRecipient: stub.certificate.fingerprint,
            now: StubServer.now.unixSeconds + 60)
        return (String(decoding: opened.content, as: UTF8.self), opened.signer.fingerprint)
    }

    /// The change that sets the PIN, and the certificate that the server has afterwards.
    private func change(_ recorder: RecordingServer, of device: Certificate) async throws -> (JSONValue, Certificate) {
        let (stub, now) = (recorder.stub, StubServer.now.unixSeconds)
        let message = try #require(try recorder.messages(to: "/methods").first)
        let opened = try await open(message, at: stub, by: device.keys)
        #expect(opened.signer == device.fingerprint)
        let change = try #require(MethodChange(opened.text))
        let new = try #require(change.new)
        let userID = DeviceKeys.userID(of: stub.user, enrollment: stub.enrollment, issuer: stub.issuer)
        let stored = try DeviceKeys.enrolling(device.encoded, userID: userID, now: now).certificate
        let grown = try DeviceKeys.grown(stored, by: change, now: now).certificate
        let vector = JSONValue.members([
            "name": "a first PIN, by our SDK", "operation": "change", "now": .integer(Int64(now)),
            "nonce": .string("\(change.header.nonce)"), "method": .string(change.method.rawValue),
            "old": JSONValue.null, "new": .string("\(new)"),
            "certificate": hex(change.certificate), "stored_certificate": hex(stored.encoded),
            "text": .string(opened.text), "message": hex(message), "valid": true, "refusal": JSONValue.null,
        ])
        return (vector, grown)
    }

    private func answers(_ recorder: RecordingServer, of device: Certificate) async throws -> [JSONValue] {
        var cases: [JSONValue] = []
        for message in try recorder.messages(to: "/answer") {
            let opened = try await open(message, at: recorder.stub, by: device.keys)
            guard case .approved(let method, let number) = try Receipt(parsing: opened.text).decision else {
                Issue.record("another decision")
                continue
            }
            #expect(number?.digits == "471932")
            #expect((opened.signer == device.fingerprint) == (method == .confirm))
            cases.append(
                .members([
                    "name": .string("\(method.rawValue), by our SDK"), "message": hex(message),
                    "text": .string(opened.text), "signer": .string("\(opened.signer)"), "valid": true,
                    "stage": JSONValue.null, "error": JSONValue.null,
                ]))
        }
        #expect(cases.count == 2)
        return cases
    }

    private func requests(_ recorder: RecordingServer, by key: P256.Signing.PublicKey) throws -> [JSONValue] {
        var cases: [JSONValue] = []
        for request in recorder.signed {
            let (fields, uri, body) = (request.headers, request.url.absoluteString, request.body ?? [])
            let covered = SignedRequest(
                method: request.method, targetURI: uri, contentDigest: fields["Content-Digest"], authorization: nil)
            try UnverifiedRequestSignature(input: fields["Signature-Input"], signature: fields["Signature"])
                .verify(covered, body: body, by: key)
            let target = String(uri.dropFirst("\(recorder.stub.issuer)".count))
            cases.append(
                .members([
                    "name": .string("\(cases.count): \(request.method) \(target), by our SDK"),
                    "method": .string(request.method), "target": .string(target),
                    "fields": .members([
                        "Content-Digest": fields["Content-Digest"].map(JSONValue.string),
                        "Signature": fields["Signature"].map(JSONValue.string),
                        "Signature-Input": fields["Signature-Input"].map(JSONValue.string),
                    ]),
                    "body": .string(String(decoding: body, as: UTF8.self)), "valid": true, "code": JSONValue.null,
                    "error": JSONValue.null,
                ]))
        }
        #expect(cases.contains { $0["target"] == "/v1/enrollments" } && cases.contains { $0["method"] == "GET" })
        return cases
    }

    private func assertions(_ enrollment: Enrollment, by key: P256.Signing.PublicKey) async throws -> [JSONValue] {
        var cases: [JSONValue] = []
        for challenge in [nil, ChallengeID("chl_00000000000000000000000000")] {
            let text = try await enrollment.assertion(for: client, by: challenge)
            let now = StubServer.now
            let read = DeviceAssertion(
                text, by: key, at: enrollment.stored.issuer, for: client, now: now, tolerance: 60)
            #expect(read?.enrollment == enrollment.id && read?.user == enrollment.user && read?.challenge == challenge)
            cases.append(
                .members([
                    "name": .string("\(challenge == nil ? "alone" : "with a challenge"), by our SDK"),
                    "now": .integer(now.seconds), "client": .string(client), "assertion": .string(text), "valid": true,
                ]))
        }
        return cases
    }

    private func write(_ file: JSONObject, _ cases: [JSONValue], as name: String) throws {
        guard let folder = ProcessInfo.processInfo.environment["COUNTERSIGN_MADE_VECTORS"] else {
            print("\(name).json: not made for the client in Python, since COUNTERSIGN_MADE_VECTORS names no folder")
            return
        }
        var file = file
        file["cases"] = .array(cases)
        let url = URL(filePath: folder)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        try Data(JSONValue.object(file).encoded).write(to: url.appending(path: "\(name).json"))
    }
}
