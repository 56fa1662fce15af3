import CountersignStorage
import CountersignWire
import Crypto
import Encodings
import JOSE
import StorageTestSupport
import Testing

@testable import CountersignCore

// Spec: docs/protocol/jwk-devices.md, *A token for the device's own enrollment*.
@Suite("A device with JWKs gets a token for its own enrollment")
struct GiveMaintenanceTokenTests {
    private static let scope = "okta.myAccount.appAuthenticator.maintenance.read"

    private func scene(_ engine: Engine = .chosen) async throws -> (scene: SignInScene, device: TestJWKDevice) {
        let scene = try await SignInScene(engine)
        let changes = ClientChanges(waivesEnrollmentApproval: false, vendors: [.okta])
        let outcome = try await UpdateClient.update(
            scene.shop.id, changes, by: .system, ports: scene.world.ports)
        guard case .updated = outcome else { throw World.Broken("vendor") }
        let user = try await scene.world.makeUser(of: scene.shop)
        return (scene, try await scene.world.makeJWKDevice(of: user, by: scene.shop))
    }

    private func assertion(of device: TestJWKDevice) async throws -> String {
        let now = device.world.time.now.seconds
        let claims: JSONObject = [
            "iss": "urn:okta:devices:app:authenticator", "aud": .string("\(device.world.ports.issuer)"),
            "sub": .string("\(device.invitation.user)"), "methodEnrollmentId": .string("\(device.enrollment)"),
            "iat": .integer(now), "exp": .integer(now + 300), "nbf": .integer(now - 300),
            "jti": .string(Hex.encode(device.world.random.bytes(16))),
        ]
        return try await JWS.sign(
            JSONValue.object(claims).encoded, type: "JWT", by: device.possession, keyID: device.possession.keyID)
    }

    private func give(
        _ assertion: String, _ scene: SignInScene, to client: ClientID? = nil
    ) async throws -> GiveMaintenanceToken.Outcome {
        try await GiveMaintenanceToken.give(
            by: Secret(assertion), scopes: [Self.scope], to: client ?? scene.shop.id, making: .okta,
            ports: scene.world.ports)
    }

    @Test("The tokens rest on the device alone, and are none of a person", arguments: Engine.allCases)
    func gives(_ engine: Engine) async throws {
        let (scene, device) = try await scene(engine)
        guard case .given(let given) = try await give(try await assertion(of: device), scene) else {
            Issue.record("nothing is given")
            return
        }
        #expect(given.family.scopes == [Self.scope] && !given.isIdentified && !given.family.isOffline)
        #expect(given.family.authentication.evidence == .approval(nil, device.enrollment))
        let signed = try await SignTokens.sign(given, ports: scene.world.ports)
        #expect(signed.identity == nil && signed.refresh == nil && signed.scopes == [Self.scope])
        let outcome = try await AuthenticateOwner.authenticate(
            signed.access, making: .okta, ports: scene.world.ports)
        guard case .owner(let owner) = outcome else {
            Issue.record("no owner: \(outcome)")
            return
        }
        #expect(owner.mayMaintain(device.enrollment) && !owner.mayManage)
        #expect(!owner.mayMaintain(scene.device.enrollment))
        let other = try await scene.world.makeJWKDevice(of: device.invitation.user, by: scene.shop)
        #expect(!owner.mayMaintain(other.enrollment))
        // Of the user's other devices it learns nothing.
        switch try await ListAppDevices.list(of: owner, ports: scene.world.ports) {
        case .devices(let seen): #expect(seen.map(\.id) == [device.enrollment])
        }
        #expect(try await VendorSwitch.isOn(.okta, ports: scene.world.ports))
        #expect(try await VendorSwitch.isOn(.oneWelcome, ports: scene.world.ports) == false)
    }

    @Test("A device gets sixty in a minute; what is refused so is good later, and another device has its own")
    func limit() async throws {
        let (scene, device) = try await scene()
        for _ in 0..<60 {
            guard case .given = try await give(try await assertion(of: device), scene) else {
                Issue.record("too few")
                return
            }
        }
        let early = try await assertion(of: device)
        for _ in 0..<2 {
            guard case .tooMany = try await give(early, scene) else {
                Issue.record("too many")
                return
            }
        }
        let user = try await scene.world.makeUser(of: scene.shop)
        let other = try await scene.world.makeJWKDevice(of: user, by: scene.shop)
        guard case .given = try await give(try await assertion(of: other), scene) else {
            Issue.record("another device is refused")
            return
        }
        scene.world.time.advance(seconds: 61)
        guard case .given = try await give(early, scene) else {
            Issue.record("what was refused is spent")
            return
        }
        #expect(try await give(early, scene) == .invalid)
    }

    @Test("The key of a device that signs short texts gets none")
    func events() async throws {
        let (scene, _) = try await scene()
        let user = try await scene.world.makeUser(of: scene.shop)
        let key = PrivateJWK(P256.Signing.PrivateKey())
        let ticket = try await scene.world.makeTicket(for: user, by: scene.shop)
        let device = try TestJWKDevice(ticket, in: scene.world, possession: key)
        guard case .enrolled = try await device.enroll(keys: DeviceJWKs(ofEvents: key.jwsPublicKey)) else {
            throw World.Broken("device that signs short texts")
        }
        #expect(try await give(try await assertion(of: device), scene) == .invalid)
    }

    @Test("Another client gets none, though it knows the user and may make the calls")
    func otherClient() async throws {
        let (scene, device) = try await scene()
        let other = try await scene.otherClient()
        let user = device.invitation.user
        _ = try await UpdateClient.update(
            other, ClientChanges(vendors: [.okta]), by: .system, ports: scene.world.ports)
        _ = try await scene.world.store.commit { try $0.links.put(user, to: other, externalID: nil) }
        #expect(try await give(try await assertion(of: device), scene, to: other) == .invalid)
    }

    @Test("A client that does not know the user any more gets none for the device that it has enrolled")
    func unlinked() async throws {
        let (scene, device) = try await scene()
        let other = try await scene.otherClient()
        let user = device.invitation.user
        // Another client keeps the user, and so the device.
        _ = try await scene.world.store.commit { try $0.links.put(user, to: other, externalID: nil) }
        guard case .given = try await give(try await assertion(of: device), scene) else {
            Issue.record("nothing is given")
            return
        }
        let ports = scene.world.ports
        #expect(try await UnlinkUser.unlink(.id(user), from: scene.shop.caller, ports: ports) == .unlinked)
        #expect(try await give(try await assertion(of: device), scene) == .invalid)
    }

    // Spec: RFC 9449 §11.1.
    @Test("RFC 9449 §11.1: a proof of a key counts once, also with another assertion")
    func replayed() async throws {
        let (scene, device) = try await scene()
        let prover = Prover(scene.world)
        func bring(_ key: ProvedKey) async throws -> GiveMaintenanceToken.Outcome {
            try await GiveMaintenanceToken.give(
                by: Secret(try await assertion(of: device)), scopes: [Self.scope], to: scene.shop.id, making: .okta,
                with: key, ports: scene.world.ports)
        }
        let key = try await prover.proved()
        guard case .given(let given) = try await bring(key) else {
            Issue.record("nothing is given")
            return
        }
        #expect(given.family.keyThumbprint == prover.binding)
        #expect(try await bring(key) == .unproved(.replayed))
        guard case .given = try await bring(try await prover.proved()) else {
            Issue.record("another proof is refused")
            return
        }
    }

    @Test("A client that may not make the calls, a disabled one, and a device that waits get nothing")
    func nothing() async throws {
        let (scene, device) = try await scene()
        let ports = scene.world.ports
        // The scene's own copy of the client still waives the waiting of further devices.
        let id = scene.shop.id
        let shop = try #require(try await scene.world.store.read { try $0.clients.find(id) })
        let waiting = try await scene.world.makeJWKDevice(of: device.invitation.user, by: shop)
        #expect(try await give(try await assertion(of: waiting), scene) == .invalid)
        _ = try await UpdateClient.update(scene.shop.id, ClientChanges(vendors: []), by: .system, ports: ports)
        #expect(try await give(try await assertion(of: device), scene) == .clientGone)
        #expect(try await VendorSwitch.isOn(.okta, ports: ports) == false)
        _ = try await UpdateClient.update(
            scene.shop.id, ClientChanges(vendors: [.okta, .oneWelcome]), by: .system, ports: ports)
        #expect(try await VendorSwitch.isOn(.okta, ports: ports))
        #expect(try await VendorSwitch.isOn(.cotter, ports: ports) == false)
        guard case .given = try await give(try await assertion(of: device), scene) else {
            Issue.record("nothing is given")
            return
        }
    }
}
