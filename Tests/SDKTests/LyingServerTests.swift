import Countersign
import CountersignWire
import Crypto
import Encodings
import OpenPGP
import Synchronization
import Testing

@Suite("Nothing is shown unless everything is what was asked for")
struct LyingServerTests {
    /// What is wrong with a challenge that the pinned server signed.
    enum Lie: String, CaseIterable, Sendable {
        case otherVersion, textVersion, noVersion, otherKind, otherChallenge, otherIssuer, otherUser, otherEnrollment
        case noMethods, unknownMethods, shortNonce, noNonce, noMessage, noClient, noExpiry, noAskedAt
        case bidirectionalMessage, zeroWidthMessage, lineInClientName, parenthesesInClientName, controlInDetail
        case equalsInLabel, emptyLabel, hugeNumber, objectAsSigningData

        /// The body with the lie in it.
        func spoil(_ body: inout JSONObject) {
            let other = "00000000000000000000000001"
            switch self {
            case .otherVersion: body["v"] = 2
            case .textVersion: body["v"] = "1"
            case .noVersion: body["v"] = nil
            case .otherKind: body["kind"] = "notice"
            case .otherChallenge: body["challenge"] = .string("chl_\(other)")
            case .otherIssuer: body["issuer"] = "https://evil.example.com"
            case .otherUser: body["user"] = .string("usr_\(other)")
            case .otherEnrollment: body["enrollment"] = .string("enr_\(other)")
            case .noMethods: body["methods"] = []
            case .unknownMethods: body["methods"] = ["retina"]
            case .shortNonce: body["nonce"] = "5f"
            case .noNonce: body["nonce"] = nil
            case .noMessage: body["message"] = nil
            case .noClient: body["client"] = nil
            case .noExpiry: body["expires_at"] = nil
            case .noAskedAt: body["asked_at"] = nil
            case .bidirectionalMessage: body["message"] = "Pay 1\u{202E}052,1 RUE"
            case .zeroWidthMessage: body["message"] = "Pay\u{200B} 1"
            case .lineInClientName: body["client"] = ["id": "cli_00000000000000000000000000", "name": "A\nB"]
            case .parenthesesInClientName:
                body["client"] = ["id": "cli_00000000000000000000000000", "name": "ACME (bank)"]
            case .controlInDetail: body["details"] = [["label": "Amount", "value": "1\u{8}2"]]
            case .equalsInLabel: body["details"] = [["label": "A = 1", "value": "2"]]
            case .emptyLabel: body["details"] = [["label": "", "value": "1"]]
            case .hugeNumber: body["number_entry"] = 17
            case .objectAsSigningData: body["signing_data"] = ["a": "b"]
            }
        }
    }

    @Test("A lie in the body is not handleable", arguments: Lie.allCases)
    func lies(_ lie: Lie) async throws {
        let server = try await StubServer()
        let app = try await server.enrolled()
        var body = server.honest
        lie.spoil(&body)
        server.say(try await Self.seal(.binary(JSONValue.object(body).encoded), server))
        #expect(await code { _ = try await app.open(server.challenge, for: server.enrollment) } == "not_handleable")
        let isShown = lie == .noMethods || lie == .unknownMethods
        #expect(await Self.listed(by: app) == (isShown ? "not_handleable" : "not listed"))
    }

    /// The error of opening what the server lists.
    private static func listed(by app: Authenticator) async -> String {
        let isListed = Mutex(false)
        let told = await code {
            guard let pending = try await app.pendingChallenges().first else { return }
            isListed.withLock { $0 = true }
            _ = try await pending.open()
        }
        return told.isEmpty && !isListed.withLock { $0 } ? "not listed" : told
    }

    @Test("The same body without a lie opens, unknown members and all")
    func honest() async throws {
        let server = try await StubServer()
        let app = try await server.enrolled()
        var body = server.honest
        body["something_new"] = ["a": 1]
        body["methods"] = ["retina", "confirm"]
        server.say(try await Self.seal(.binary(JSONValue.object(body).encoded), server))
        let question = try await app.open(server.challenge, for: server.enrollment)
        #expect(question.message == "Pay EUR 1,250.00 to ACME GmbH?")
        let listed = try #require(try await app.pendingChallenges().first)
        #expect(listed.message == question.message && listed.clientName == question.client.name)
        #expect(try await listed.open().id == question.id)
        // A short message besides is what a list shows.
        body["alert"] = "Pay?"
        server.say(try await Self.seal(.binary(JSONValue.object(body).encoded), server))
        let short = try #require(try await app.pendingChallenges().first)
        #expect(short.message == "Pay?")
        #expect(try await short.open().message == question.message)
        body["alert"] = "Pay\u{200B}?"
        server.say(try await Self.seal(.binary(JSONValue.object(body).encoded), server))
        #expect(await Self.listed(by: app) == "not listed")
    }

    /// What is wrong with the message around an honest body.
    enum Wrapping: String, CaseIterable, Sendable {
        case notBase64, empty, garbage, bitFlipped, cut, notJSON, notUTF8, signedAsText
        case otherRecipient, otherKey, strangerSigned, certifyOnlySigned, deviceSigned, fromTheFuture
    }

    @Test(
        "A message that the pinned server did not sign and seal for this device is not opened",
        arguments: Wrapping.allCases)
    func wrappings(_ wrapping: Wrapping) async throws {
        let server = try await StubServer()
        let app = try await server.enrolled()
        let honest = JSONValue.object(server.honest).encoded
        let good = try await Self.seal(.binary(honest), server)
        var expected = "not_handleable"
        switch wrapping {
        case .notBase64:
            server.say(base64: "@@@")
            expected = "server_unreachable"
        case .empty: server.say([])
        case .garbage: server.say((0..<400).map { UInt8(truncatingIfNeeded: $0 &* 13 &+ 5) })
        case .bitFlipped: server.say(good.dropLast() + [good[good.count - 1] ^ 1])
        case .cut: server.say(Array(good.prefix(good.count - 10)))
        case .notJSON: server.say(try await Self.seal(.binary(Array("hello".utf8)), server))
        case .notUTF8: server.say(try await Self.seal(.binary(honest + [0xFF]), server))
        case .signedAsText:
            server.say(try await Self.seal(.text(String(decoding: honest, as: UTF8.self)), server))
        case .otherRecipient:
            server.say(try await Self.seal(.binary(honest), server, recipient: server.certificate.fingerprint))
        case .otherKey:
            let other = DecryptionKeyPair(P256.KeyAgreement.PrivateKey(), createdAt: StubServer.now.unixSeconds)
            server.say(try await Self.seal(.binary(honest), server, to: other.publicKey))
        case .strangerSigned:
            let stranger = SigningKeyPair(P256.Signing.PrivateKey(), createdAt: StubServer.now.unixSeconds)
            server.say(try await Self.seal(.binary(honest), server, by: stranger))
            expected = "server_changed"
        case .certifyOnlySigned: server.say(try await Self.seal(.binary(honest), server, by: server.primary))
        case .deviceSigned:
            // A key of another server's certificate, though made at the same time.
            server.say(try await Self.seal(.binary(honest), server, by: try await StubServer().signing))
            expected = "server_changed"
        case .fromTheFuture: server.say(try await Self.seal(.binary(honest), server, ahead: 3600))
        }
        #expect(await code { _ = try await app.open(server.challenge, for: server.enrollment) } == expected)
        #expect(await Self.listed(by: app) == (expected == "server_changed" ? expected : "not listed"))
    }

    @Test(
        "An expired challenge is not shown, give or take a minute", arguments: [(-30, ""), (-90, "challenge_expired")])
    func expired(_ seconds: Int64, _ expected: String) async throws {
        let server = try await StubServer()
        let app = try await server.enrolled()
        var body = server.honest
        body["expires_at"] = .string("\(StubServer.now.adding(seconds: seconds))")
        server.say(try await Self.seal(.binary(JSONValue.object(body).encoded), server))
        #expect(await code { _ = try await app.open(server.challenge, for: server.enrollment) } == expected)
        #expect(await Self.listed(by: app) == expected)
    }

    @Test("The message of one challenge in place of another's is found out")
    func swapped() async throws {
        try await SDKScene.with { scene in
            let small = try await scene.ask(["message": "Pay EUR 1?"])
            let large = try await scene.ask(["message": "Pay EUR 1,000,000?"])
            // The network keeps the reply to the one and puts it in place of the other's.
            let kept = Mutex<TransportResponse?>(nil)
            scene.transport.happen { request, send in
                let response = try await send(request)
                return kept.withLock { kept in
                    defer { kept = kept ?? response }
                    return kept ?? response
                }
            }
            #expect(try await scene.open(large).message == "Pay EUR 1,000,000?")
            #expect(await code { _ = try await scene.open(small) } == "not_handleable")
        }
    }

    /// Signs and seals the way the server does, unless told otherwise.
    @Test("A key that was revoked signs nothing that is shown, whatever date it bears, nor does an older copy")
    func revoked() async throws {
        let server = try await StubServer()
        let vault = MemoryVault()
        let app = try await server.enrolled(vault)
        let honest = JSONValue.object(server.honest).encoded
        // What its thief has dated before the revocation.
        let stolen = try await Self.seal(.binary(honest), server)
        let now = StubServer.now.unixSeconds
        let next = SigningKeyPair(P256.Signing.PrivateKey(), createdAt: now)
        server.publish(
            try await server.certificate
                .revoking(server.signing.publicKey.fingerprint, because: .superseded, by: server.primary, at: now + 30)
                .adding(.signing(next), by: server.primary, at: now))
        server.say(try await Self.seal(.binary(honest), server, by: next))
        _ = try await app.open(server.challenge, for: server.enrollment)
        server.say(stolen)
        #expect(await code { _ = try await app.open(server.challenge, for: server.enrollment) } == "server_changed")
        server.publish(nil)
        let again = try await server.app(vault)
        #expect(await code { _ = try await again.open(server.challenge, for: server.enrollment) } == "server_changed")
        server.say(try await Self.seal(.binary(honest), server, by: next))
        _ = try await again.open(server.challenge, for: server.enrollment)
    }

    private static func seal(
        _ content: MessageContent, _ server: StubServer, by signer: SigningKeyPair? = nil,
        to key: PublicKey? = nil, recipient: Fingerprint? = nil, ahead seconds: UnixSeconds = 0
    ) async throws -> [UInt8] {
        let device = try #require(server.device)
        let now = StubServer.now.unixSeconds
        return try await EncryptedMessage.seal(
            content, signedBy: signer ?? server.signing, to: key ?? device.key(for: .encrypt, at: now).publicKey,
            intendedRecipient: recipient ?? device.fingerprint, at: now + seconds)
    }
}
