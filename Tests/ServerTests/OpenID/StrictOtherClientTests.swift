import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import StorageTestSupport
import TestSupport
import Testing

@testable import CountersignServer

// Spec: FAPI 2.0 Security Profile §5.3.2.1; RFC 8705 §6.1.
@Suite("Two clients of the profile strict, both validly authenticated: neither gets what is the other's")
struct StrictOtherClientTests {
    private static let wanted: KeyValuePairs<String, String?> = ["scope": "openid offline_access"]

    /// A further client of the same server.
    private static func another(besides scene: SignInPageScene) async throws -> SignInPageScene {
        SignInPageScene(
            scene: scene.scene, browser: TestBrowser(scene.server),
            credential: try await scene.server.makeClient("Other Bank").credential)
    }

    private static func refreshFields(_ tokens: JSONValue) throws -> [(String, String)] {
        [
            ("grant_type", "refresh_token"),
            ("refresh_token", try #require(tokens["refresh_token"]?.string, "\(tokens)")),
        ]
    }

    // Modules: ensure-authorization-code-is-bound-to-client, refresh-token
    @Test("fapi2-security-profile-final-refresh-token, -ensure-authorization-code-is-bound-to-client: by assertions")
    func proofs() async throws {
        try await StrictScene.with { strict in
            let other = StrictScene(
                scene: try await Self.another(besides: strict.scene), key: TestKey(strict.scene.server))
            try await other.scene.set(other.settings())
            let code = try await strict.code(Self.wanted)
            for key in [other.key, strict.key] {
                let stolen = try await other.send("/oauth2/token", other.redeemFields(code), by: key)
                expectError(stolen, 400, "invalid_grant")
            }
            let refresh = try Self.refreshFields(try await strict.redeem(code).success())
            // Also with a proof by the first client's key.
            for key in [other.key, strict.key] {
                expectError(try await other.send("/oauth2/token", refresh, by: key), 400, "invalid_grant")
            }
            let again = try await strict.send("/oauth2/token", refresh, by: strict.key)
            #expect(again.status == 200 && again.json["refresh_token"] == .string(refresh[1].1), "\(again)")
        }
    }

    // Modules: ensure-authorization-code-is-bound-to-client, refresh-token
    @Test(
        "fapi2-security-profile-final-refresh-token, -ensure-authorization-code-is-bound-to-client: by certificates",
        arguments: CertifiedClient.Variant.allCases)
    func certificates(_ variant: CertifiedClient.Variant) async throws {
        try await CertifiedClient.with(variant) { client in
            let strict = StrictScene(
                scene: try await Self.another(besides: client.strict.scene), key: TestKey(client.strict.scene.server))
            let other = CertifiedClient(
                strict: strict, variant: variant, certificate: try TestCertificate(named: "other"))
            var settings = other.settings()
            if settings["tls_client_auth_subject_dn"] != nil { settings["tls_client_auth_subject_dn"] = "CN=other" }
            try await strict.scene.set(settings)
            let code = try await client.code(Self.wanted)
            let stolen = try await other.redeem(code)
            expectError(stolen, 400, "invalid_grant")
            let refresh = try Self.refreshFields(try await client.redeem(code).success())
            let theirs = try await other.send("/oauth2/token", refresh + strict.scene.id, with: other.certificate)
            expectError(theirs, 400, "invalid_grant")
            let own = refresh + client.strict.scene.id
            let isAsserted = variant == .assertionAndCertificate
            let (status, error) = isAsserted ? (400, "invalid_request") : (401, "invalid_client")
            expectError(try await client.send("/oauth2/token", own, with: nil), status, error)
            let again = try await client.send("/oauth2/token", own, with: client.certificate).success()
            #expect(again["refresh_token"] == .string(refresh[1].1), "\(again)")
            let access = try #require(again["access_token"]?.string)
            let confirmation: JSONValue =
                variant.isProved
                ? ["jkt": .string(client.strict.key.thumbprint)]
                : ["x5t#S256": .string(client.certificate.thumbprint)]
            #expect(try StrictScene.claims(of: access)["cnf"] == confirmation)
        }
    }
}
