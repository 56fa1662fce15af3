import CountersignStorage
import CountersignWire
import Crypto
import Encodings
import JOSE
import StorageTestSupport
import TestSupport
import Testing

@testable import CountersignCore

// Spec: OpenID Connect Dynamic Client Registration 1.0 §2; OpenID Connect Core 1.0 §10.1.1.
@Suite("Keys that clients publish", .timeLimit(.minutes(5)))
struct PublishedKeysTests {
    /// A shop that publishes its keys.
    private struct Scene: Sendable {
        let world: World
        let ports: Ports
        let logs = LogBook()
        let shop: Client
        let uri: KeysURI
        let old = P256.Signing.PrivateKey()
        let new = P256.Signing.PrivateKey()

        init() async throws {
            world = try await World()
            ports = world.ports(loggingTo: logs.logger)
            try await world.store.commit { store in for type in ChallengeType.builtIn { try store.types.put(type) } }
            shop = try await world.makeClient().client
            uri = try Self.uri("keys")
            publish([old])
            try await set(uri)
        }

        static func uri(_ name: String) throws -> KeysURI {
            try #require(KeysURI("https://shop.example.com/\(name)", isDevelopment: false))
        }

        /// How often keys were fetched.
        var fetches: Int { world.clientKeys.fetches.count }
        /// The lines of the log that tell of keys.
        var told: [String] { logs.entries.filter { $0.contains("a client's keys cannot be used") } }

        func set(_ uri: KeysURI) async throws {
            let party = RelyingParty(
                client: shop.id, profile: .web, redirectURIs: [try #require(RedirectURI(SignInScene.redirectURI))],
                keysURI: uri)
            #expect(try await SetRelyingParty.set(party, by: shop.actor, ports: world.ports) == .set(party))
        }

        /// Publishes one key without a name.
        func publishUnnamed(_ key: P256.Signing.PrivateKey) {
            var members = JWK(key.publicKey).json.object ?? [:]
            members["kid"] = nil
            world.clientKeys.publish(["keys": [.object(members)]], at: uri)
        }

        func publish(_ keys: [P256.Signing.PrivateKey], at other: KeysURI? = nil) {
            world.clientKeys.publish(JWKSet(keys.map { JWK($0.publicKey) }).json, at: other ?? uri)
        }

        /// Whether the shop is authenticated by a key.
        ///
        /// - Parameters:
        ///   - key: the key.
        ///   - named: the key that the assertion names; the same by default.
        ///   - isNamed: whether it names one.
        ///   - node: the node that is asked; the usual one by default.
        func isTaken(
            by key: P256.Signing.PrivateKey, named: P256.Signing.PrivateKey? = nil, isNamed: Bool = true,
            at node: World? = nil
        ) async throws -> Bool {
            let claims: JSONValue = [
                "iss": .string("\(shop.id)"), "sub": .string("\(shop.id)"), "aud": .string(World.issuer),
                "jti": .string("\(UInt64.random(in: 0...(.max)))"),
                "exp": .integer(world.time.now.seconds + 60),
            ]
            let assertion = try await JWS.sign(
                claims.encoded, type: nil, by: key, keyID: isNamed ? (named ?? key).jwsPublicKey.thumbprint : nil)
            let outcome = try await AuthenticateByKey.authenticate(
                Secret(assertion), for: [World.issuer], ports: node?.ports ?? ports)
            guard case .authenticated(let client, _) = outcome else { return false }
            return client.id == shop.id
        }
    }

    @Test("They are fetched again after ten minutes, and a clock that was set back does not prolong that")
    func cached() async throws {
        let scene = try await Scene()
        #expect(try await scene.isTaken(by: scene.old))
        #expect(scene.world.clientKeys.fetches == [scene.uri])
        scene.publish([scene.new])
        scene.world.time.advance(seconds: 599)
        #expect(try await scene.isTaken(by: scene.old))
        #expect(scene.fetches == 1)
        scene.world.time.advance(seconds: 1)
        #expect(try await !scene.isTaken(by: scene.old))
        #expect(try await scene.isTaken(by: scene.new))
        #expect(scene.fetches == 2)
        scene.world.time.advance(seconds: -7200)
        #expect(try await scene.isTaken(by: scene.new))
        #expect(scene.fetches == 3 && scene.told.isEmpty)
    }

    @Test("A new key is fetched when it is named, a minute after the last fetch at the earliest")
    func rotated() async throws {
        let scene = try await Scene()
        #expect(try await scene.isTaken(by: scene.old))
        scene.publish([scene.old, scene.new])
        scene.world.time.advance(seconds: 59)
        #expect(try await !scene.isTaken(by: scene.new))
        #expect(scene.fetches == 1)
        scene.world.time.advance(seconds: 1)
        #expect(try await scene.isTaken(by: scene.new))
        #expect(try await scene.isTaken(by: scene.old))
        #expect(scene.fetches == 2)
    }

    @Test("An only key without a name is replaced in place: the new one is fetched when something is signed by it")
    func unnamed() async throws {
        let scene = try await Scene()
        scene.publishUnnamed(scene.old)
        #expect(try await scene.isTaken(by: scene.old, isNamed: false))
        scene.publishUnnamed(scene.new)
        scene.world.time.advance(seconds: 59)
        #expect(try await !scene.isTaken(by: scene.new, isNamed: false))
        #expect(scene.fetches == 1)
        scene.world.time.advance(seconds: 1)
        #expect(try await scene.isTaken(by: scene.new, isNamed: false))
        #expect(try await !scene.isTaken(by: scene.old, isNamed: false))
        #expect(scene.fetches == 2)
    }

    @Test("Who names keys that there are not has them fetched once a minute, and a wrong signature never")
    func unknown() async throws {
        let scene = try await Scene()
        let stranger = P256.Signing.PrivateKey()
        #expect(try await scene.isTaken(by: scene.old))
        for minute in 1...3 {
            scene.world.time.advance(seconds: 60)
            for _ in 0..<3 { #expect(try await !scene.isTaken(by: stranger)) }
            #expect(scene.fetches == 1 + minute)
            #expect(try await scene.isTaken(by: scene.old))
        }
        scene.world.time.advance(seconds: 60)
        #expect(try await !scene.isTaken(by: stranger, named: scene.old))
        #expect(scene.fetches == 4)
    }

    @Test("While they cannot be fetched, once a minute, they are good for an hour; the log says why")
    func failing() async throws {
        let scene = try await Scene()
        #expect(try await scene.isTaken(by: scene.old))
        scene.world.clientKeys.publish(nil, at: scene.uri)
        scene.world.time.advance(seconds: 600)
        for _ in 0..<2 { #expect(try await scene.isTaken(by: scene.old)) }
        #expect(scene.fetches == 2)
        scene.world.time.advance(seconds: 59)
        #expect(try await scene.isTaken(by: scene.old))
        #expect(scene.fetches == 2)
        scene.world.time.advance(seconds: 2940)
        #expect(try await scene.isTaken(by: scene.old))
        #expect(scene.fetches == 3)
        scene.world.time.advance(seconds: 1)
        #expect(try await !scene.isTaken(by: scene.old))
        let line = "warning a client's keys cannot be used client=\(scene.shop.id) error=nobody is there"
        #expect(scene.fetches == 3 && scene.told == [line, line])
        scene.publish([scene.old])
        scene.world.time.advance(seconds: 60)
        #expect(try await scene.isTaken(by: scene.old))
        #expect(scene.told.count == 2)
    }

    @Test("Where they could never be fetched nobody is authenticated, and the host is left alone for a minute")
    func never() async throws {
        let scene = try await Scene()
        scene.world.clientKeys.publish(nil, at: scene.uri)
        for _ in 0..<3 { #expect(try await !scene.isTaken(by: scene.old)) }
        #expect(scene.fetches == 1)
        scene.publish([scene.old])
        scene.world.time.advance(seconds: 60)
        #expect(try await scene.isTaken(by: scene.old))
        #expect(scene.fetches == 2)
    }

    @Test("Of a document that is no JWK Set the former keys stay; one without a key, or with a private one, ends them")
    func useless() async throws {
        let key = P256.Signing.PrivateKey()
        var secret = JWK(key.publicKey).json.object ?? [:]
        secret["d"] = .string(Base64URL.encode(Array(key.rawRepresentation)))
        let double = JWK(key.publicKey).json
        let documents: [(JSONValue, Bool, String)] = [
            ("x", true, "they are no JWK Set: malformed"), (["keys": [1]], true, "they are no JWK Set: malformed"),
            (["keys": [double, double]], true, "they are no JWK Set: duplicateKeyID"),
            (["keys": []], false, "no key can be used"), (["keys": [["kty": "x"]]], false, "no key can be used"),
            (["keys": [.object(secret)]], false, "a private key is among them, so none counts"),
        ]
        for (document, isGood, why) in documents {
            let scene = try await Scene()
            #expect(try await scene.isTaken(by: scene.old))
            scene.world.clientKeys.publish(document, at: scene.uri)
            scene.world.time.advance(seconds: 600)
            #expect(try await scene.isTaken(by: scene.old) == isGood, "\(document)")
            #expect(try await !scene.isTaken(by: key), "\(document)")
            #expect(scene.told.count == 1 && scene.told[0].hasSuffix("error=\(why)"), "\(scene.told)")
        }
    }

    @Test("A client with another URI has none of the former keys, not even where they were being fetched")
    func settings() async throws {
        let scene = try await Scene()
        #expect(try await scene.isTaken(by: scene.old))
        let other = try Scene.uri("other")
        scene.publish([scene.new], at: other)
        try await scene.set(other)
        #expect(try await !scene.isTaken(by: scene.old))
        #expect(try await scene.isTaken(by: scene.new))
        #expect(scene.world.clientKeys.fetches == [scene.uri, other])
        let third = try Scene.uri("third")
        scene.publish([scene.old], at: third)
        try await scene.set(third)
        scene.world.clientKeys.meanwhile { try await scene.set(other) }
        #expect(try await !scene.isTaken(by: scene.old))
        #expect(scene.world.clientKeys.fetches == [scene.uri, other, third])
    }

    @Test("A URI that an operator changes on one node while another one fetches brings no former key there either")
    func otherNode() async throws {
        let scene = try await Scene()
        let node = try await scene.world.reopened()
        let other = try Scene.uri("other")
        node.clientKeys.publish(JWKSet([JWK(scene.old.publicKey)]).json, at: scene.uri)
        node.clientKeys.publish(JWKSet([JWK(scene.new.publicKey)]).json, at: other)
        #expect(try await scene.isTaken(by: scene.old, at: node))
        scene.world.time.advance(seconds: 600)
        node.clientKeys.meanwhile { try await scene.set(other) }
        #expect(try await !scene.isTaken(by: scene.old, at: node))
        #expect(try await scene.isTaken(by: scene.new, at: node))
        #expect(node.clientKeys.fetches == [scene.uri, scene.uri, other])
        // Back again: what was fetched of it a moment ago is as good as it was.
        try await scene.set(scene.uri)
        #expect(try await scene.isTaken(by: scene.old, at: node))
        #expect(try await !scene.isTaken(by: scene.new, at: node))
        #expect(node.clientKeys.fetches == [scene.uri, scene.uri, other])
    }

    @Test("Requests that come at the same time wait for one fetch")
    func shared() async throws {
        let scene = try await Scene()
        scene.world.clientKeys.meanwhile {
            while scene.world.clientKeys.waits < 8 { try await Task.sleep(for: .milliseconds(1)) }
        }
        let taken = try await atOnce(8) { _ in try await scene.isTaken(by: scene.old) }
        #expect(taken == Array(repeating: true, count: 8) && scene.fetches == 1)
    }
}
