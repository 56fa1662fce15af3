import Crypto
import CountersignWire
import Encodings
import NIOHTTP1
import OpenPGP
import ServerTestSupport
import Testing

@Suite("RFC 9421: a device's request counts only under its own good signature")
struct DeviceSignatureTests {
    /// What is wrong with the signed request that brings the right answer.
    enum Mistake: String, CaseIterable, Sendable {
        case noFields, noInput, noSignature
        case twoSignatures, twoFieldsOfEach
        case unknownParameter, noCreated, noNonce, noKeyID, noAlgorithm, noTag
        case textAsCreated, negativeCreated, shortNonce, longNonce, numberAsNonce
        case otherTag, otherAlgorithm
        case notADictionary, itemInsteadOfList, otherLabels, notBase64, shortBytes, componentWithParameter
        case otherKey, otherMethod, otherPath, otherHost, queryAdded, queryRemoved, upperCaseHost
        case methodNotCovered, uriNotCovered, digestNotCovered, componentTwice, moreCovered
        case digestNotSent, otherDigest, digestByOtherAlgorithm, alteredBody, alteredBodyAndDigest
        case authorizationNotCovered
    }

    @Test("Each mistake is refused by name, and changes nothing", arguments: Mistake.allCases)
    func mistakes(_ mistake: Mistake) async throws {
        try await DeviceScene.with { scene in
            let asked = try await scene.ask()
            let body = AnswerRequest(message: try await scene.approval(of: asked)).json.encoded
            let reply = try await Self.send(body, to: asked, mistake, in: scene)
            let isMissing = [.noFields, .noInput, .noSignature].contains(mistake)
            #expect(
                reply.refusal == Refusal(401, isMissing ? "signature_missing" : "signature_invalid"), "\(reply)")
            try await scene.expectUntouched(asked)
        }
    }

    /// Sends a right answer with one mistake in how it is signed.
    private static func send(
        _ body: [UInt8], to asked: DeviceScene.Asked, _ mistake: Mistake, in scene: DeviceScene
    ) async throws -> Reply {
        var path = "\(asked.path)/answer"
        var key = scene.phone.authentication
        var sent = body
        var headers: [(String, String)] = [("Content-Digest", ContentDigest.field(for: body))]
        var signature = DeviceHandmadeSignature(
            .POST, scene.server.issuer.uri(path), body: body, created: scene.server.clock.now.seconds,
            keyID: "\(scene.phone.enrollment)")
        switch mistake {
        case .otherKey: key = P256.Signing.PrivateKey()
        case .queryAdded: path += "?x=1"
        case .digestNotSent: headers = []
        case .otherDigest: headers = [("Content-Digest", ContentDigest.field(for: [1]))]
        case .digestByOtherAlgorithm:
            let digest = "sha-512=:\(Base64.encode(Array(SHA512.hash(data: body)))):"
            headers = [("Content-Digest", digest)]
            signature.cover("content-digest", digest)
        case .alteredBody: sent[sent.count / 2] ^= 1
        case .alteredBodyAndDigest:
            sent[sent.count / 2] ^= 1
            headers = [("Content-Digest", ContentDigest.field(for: sent))]
        case .authorizationNotCovered: headers.append(("Authorization", scene.shop.authorization))
        default: try Self.spoil(&signature, by: mistake, path: path, in: scene)
        }
        headers += try Self.fields(signature, mistake, key, in: scene)
        headers.append(("Content-Type", "application/json"))
        return try await scene.server.send(.POST, path, headers: headers, body: sent)
    }

    /// Mistakes in what is signed.
    private static func spoil(
        _ signature: inout DeviceHandmadeSignature, by mistake: Mistake, path: String, in scene: DeviceScene
    ) throws {
        switch mistake {
        case .unknownParameter: signature.set("expires", "\(scene.server.clock.now.seconds + 60)")
        case .noCreated: signature.set("created", nil)
        case .noNonce: signature.set("nonce", nil)
        case .noKeyID: signature.set("keyid", nil)
        case .noAlgorithm: signature.set("alg", nil)
        case .noTag: signature.set("tag", nil)
        case .textAsCreated: signature.set("created", "\"\(scene.server.clock.now.seconds)\"")
        case .negativeCreated: signature.set("created", "-1")
        case .shortNonce: signature.set("nonce", "\"123456789012345\"")
        case .longNonce: signature.set("nonce", "\"\(String(repeating: "n", count: 65))\"")
        case .numberAsNonce: signature.set("nonce", "123456789012345")
        case .otherTag: signature.set("tag", "\"Countersign\"")
        case .otherAlgorithm: signature.set("alg", "\"ecdsa-p384-sha384\"")
        case .otherMethod: signature.components[0].value = "PUT"
        case .otherPath: signature.components[1].value = scene.server.issuer.uri("/v1/enrollments/self")
        case .otherHost: signature.components[1].value = "https://evil.example.com\(path)"
        case .upperCaseHost: signature.components[1].value = "HTTP" + signature.components[1].value.dropFirst(4)
        case .queryRemoved: signature.components[1].value += "?x=1"
        case .methodNotCovered: signature.cover("@method", nil)
        case .uriNotCovered: signature.cover("@target-uri", nil)
        case .digestNotCovered: signature.cover("content-digest", nil)
        case .componentTwice: signature.components.append(signature.components[0])
        case .moreCovered: signature.components.append(("content-type", "application/json"))
        default: return
        }
    }

    /// Mistakes in the two fields.
    private static func fields(
        _ signature: DeviceHandmadeSignature, _ mistake: Mistake, _ key: P256.Signing.PrivateKey, in scene: DeviceScene
    ) throws -> [(String, String)] {
        let (input, value) = (signature.input, try signature.signature(by: key))
        var second = signature
        second.label = "sig2"
        second.set("nonce", "\"another-nonce-than-before\"")
        switch mistake {
        case .noFields: return []
        case .noInput: return [("Signature", value)]
        case .noSignature: return [("Signature-Input", input)]
        case .twoSignatures:
            return [
                ("Signature-Input", "\(input), \(second.input)"),
                ("Signature", "\(value), \(try second.signature(by: key))"),
            ]
        case .twoFieldsOfEach: return try signature.fields(by: key) + second.fields(by: key)
        case .notADictionary: return [("Signature-Input", "(\(input)"), ("Signature", value)]
        case .itemInsteadOfList: return [("Signature-Input", "sig=1"), ("Signature", value)]
        case .otherLabels: return [("Signature-Input", input), ("Signature", "other" + value.dropFirst(3))]
        case .notBase64: return [("Signature-Input", input), ("Signature", "sig=:!!!!:")]
        case .shortBytes: return [("Signature-Input", input), ("Signature", "sig=:\(Base64.encode([1, 2, 3])):")]
        case .componentWithParameter:
            let altered = input.replacing("\"@method\"", with: "\"@method\";req")
            return [("Signature-Input", altered), ("Signature", value)]
        default: return [("Signature-Input", input), ("Signature", value)]
        }
    }

    @Test("RFC 9421 §2.3: the order of components and parameters is the signer's to choose")
    func anyOrder() async throws {
        try await DeviceScene.with { scene in
            let path = "/v1/enrollments/self"
            var signature = DeviceHandmadeSignature(
                .GET, scene.server.issuer.uri(path), body: nil, created: scene.server.clock.now.seconds,
                keyID: "\(scene.phone.enrollment)")
            signature.components.reverse()
            signature.parameters.reverse()
            signature.label = "another"
            let reply = try await scene.server.send(
                .GET, path, headers: try signature.fields(by: scene.phone.authentication))
            #expect(reply.status == 200, "\(reply)")
        }
    }

    @Test("A body added to a request signed without one is refused")
    func addedBody() async throws {
        try await DeviceScene.with { scene in
            let headers = try await scene.phone.signature(.DELETE, "/v1/enrollments/self")
            let bare = try await scene.server.send(.DELETE, "/v1/enrollments/self", headers: headers, body: [1])
            #expect(bare.refusal == Refusal(401, "signature_invalid"))
            let digest = ("Content-Digest", ContentDigest.field(for: [1]))
            let withDigest = try await scene.server.send(
                .DELETE, "/v1/enrollments/self", headers: headers + [digest], body: [1])
            #expect(withDigest.refusal == Refusal(401, "signature_invalid"))
            try await scene.expectUntouched(try await scene.ask())
        }
    }

    @Test("A body taken from a signed request is refused")
    func removedBody() async throws {
        try await DeviceScene.with { scene in
            let asked = try await scene.ask()
            let body = AnswerRequest(message: try await scene.approval(of: asked)).json.encoded
            let headers = try await scene.phone.signature(.POST, "\(asked.path)/answer", body: body)
            let reply = try await scene.server.send(.POST, "\(asked.path)/answer", headers: headers)
            #expect(reply.refusal == Refusal(401, "signature_invalid"))
            try await scene.expectUntouched(asked)
        }
    }

    @Test(
        "The Host field is never believed",
        arguments: [
            ("Host", "evil.example.com"), ("X-Forwarded-Host", "evil.example.com"), ("X-Forwarded-Proto", "https"),
        ])
    func foreignHost(_ name: String, _ value: String) async throws {
        try await DeviceScene.with { scene in
            let path = "/v1/enrollments/self"
            let scheme = name == "X-Forwarded-Proto" ? "https" : "http"
            let host = name == "X-Forwarded-Proto" ? "127.0.0.1" : value
            let signature = DeviceHandmadeSignature(
                .GET, "\(scheme)://\(host)\(path)", body: nil, created: scene.server.clock.now.seconds,
                keyID: "\(scene.phone.enrollment)")
            let fields = try signature.fields(by: scene.phone.authentication)
            let forOther = try await scene.server.send(.GET, path, headers: fields + [(name, value)])
            #expect(forOther.refusal == Refusal(401, "signature_invalid"))
            // Whatever the fields say, a signature over the issuer's own URI is good.
            let own = try await scene.phone.signature(.GET, path)
            #expect(try await scene.server.send(.GET, path, headers: own + [(name, value)]).status == 200)
        }
    }

    @Test(
        "An id nobody has is an unknown enrollment", arguments: ["enr_00000000000000000000000000", "x", ""])
    func unknownDevice(_ keyID: String) async throws {
        try await DeviceScene.with { scene in
            let reply = try await scene.phone.send(.GET, "/v1/enrollments/self", keyID: keyID)
            #expect(reply.refusal == Refusal(401, "unknown_enrollment"))
            #expect(reply.json["notice"] == nil)
        }
    }

    @Test("A phone cannot act as another enrollment")
    func otherEnrollment() async throws {
        try await DeviceScene.with { scene in
            let stranger = try await scene.strangersPhone()
            for (method, path) in [(HTTPMethod.GET, "/v1/enrollments/self"), (.DELETE, "/v1/enrollments/self")] {
                let reply = try await stranger.send(method, path, keyID: "\(scene.phone.enrollment)")
                #expect(reply.refusal == Refusal(401, "signature_invalid"))
            }
            let asked = try await scene.ask()
            let message = try await stranger.send(
                .GET, "\(asked.path)/message", keyID: "\(scene.phone.enrollment)")
            #expect(message.refusal == Refusal(401, "signature_invalid"))
            try await scene.expectUntouched(asked)
        }
    }

    @Test("Each device sees only itself at /v1/enrollments/self")
    func ownEnrollment() async throws {
        try await DeviceScene.with { scene in
            let second = try await scene.anotherPhone()
            for phone in [scene.phone, second] {
                let own = try await phone.send(.GET, "/v1/enrollments/self").success()
                #expect(own["enrollment"] == .string("\(phone.enrollment)"))
                #expect(own["fingerprint"] == .string("\(phone.certificate.fingerprint)"))
                #expect(own["state"] == "active")
            }
        }
    }
}
