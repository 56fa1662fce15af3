import CountersignWire
import Crypto
import Encodings
import Foundation
import JOSE
import NIOHTTP1
import ServerTestSupport
import Testing

/// A client whose app was written with Okta's device SDK, at a server that takes its calls; `customer-1` has a phone of
/// ours.
///
/// What the app sends and expects is written from the public formats of that SDK; nothing here was run on a phone.
struct OktaScene: Sendable {
    static let path = "/idp/myaccount/app-authenticators"
    /// The scopes that an app asks for.
    static let scopes = "openid okta.authenticators.manage.self okta.authenticators.read okta.users.read.self"
    static let maintaining = "okta.myAccount.appAuthenticator.maintenance.manage"

    let pages: SignInPageScene

    var server: TestServer { pages.server }
    var scene: Scene { pages.scene }
    var shop: Caller { pages.scene.shop }
    var administrator: Caller { pages.scene.administrator }
    /// What the app knows the client by.
    var client: String { pages.credential.id }

    /// Runs a body with an app that may make the calls, and the types `tap` and `face`, which its devices may answer.
    ///
    /// - Parameters:
    ///   - vendors: whose calls the client may make.
    ///   - body: the body to run.
    static func with(
        _ vendors: JSONValue = ["okta"], _ body: @escaping @Sendable (OktaScene) async throws -> Void
    ) async throws {
        let settings: JSONObject = [
            "profile": "native", "asked_browsers": "all",
            "ways": ["device", "email"], "registration": "open",
        ]
        try await SignInPageScene.with(settings) { pages in
            let scene = OktaScene(pages: pages)
            try await scene.set(vendors)
            if vendors.array?.contains("okta") == true { try await scene.awaitKey() }
            let types: [(String, JSONValue)] = [
                ("tap", ["confirm"]), ("face", ["biometric"]), ("both", ["biometric", "confirm"]),
            ]
            for (name, methods) in types {
                let type: JSONValue = [
                    "methods": methods, "assurance": "challenge", "number_entry": false, "max_pending": 1000,
                    "max_asks": 1000, "denial_pause": 0,
                ]
                _ = try await scene.administrator.call(.PUT, "/v1/admin/types/\(name)", type).success()
            }
            try await body(scene)
        }
    }

    /// Sets whose calls the client may make.
    func set(_ vendors: JSONValue) async throws {
        let path = "/v1/admin/clients/\(client)"
        _ = try await administrator.call(.PATCH, path, ["vendors": vendors]).success()
    }

    /// Waits until the server has read the key of RSA that was made for the vendor.
    private func awaitKey() async throws {
        for _ in 0..<200 {
            let set = try await server.send(.GET, "/oauth2/jwks", isContract: false).success()
            if set["keys"]?.array?.contains(where: { $0["kty"] == "RSA" }) == true { return }
            try await Task.sleep(for: .milliseconds(25))
        }
        Issue.record("there is no key of RSA")
    }

    /// The tokens of somebody who has signed in by a code to an address that has got no other one.
    func signIn(_ name: String = "anna", _ scopes: String = Self.scopes) async throws -> JSONValue {
        let page = try await pages.signInByMail("\(name)@example.com", ["scope": scopes])
        let code = try #require(page.result["code"], "\(page.reply)")
        let redeemed = try await pages.token([
            ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", SignInPageScene.redirectURI),
            ("code_verifier", SignInPageScene.verifier), ("client_id", client),
        ])
        return try redeemed.success()
    }

    /// A phone of somebody who has signed in, which is not enrolled.
    func makePhone(_ name: String = "anna", verifies: Bool = false) async throws -> OktaPhone {
        let token = try #require(try await signIn(name)["access_token"]?.string)
        return OktaPhone(server: server, client: client, token: token, verifies: verifies)
    }

    /// A phone that is enrolled, and counts at once.
    func enrolledPhone(_ name: String = "anna", verifies: Bool = false) async throws -> OktaPhone {
        var phone = try await makePhone(name, verifies: verifies)
        phone.enrollment = try phone.read(try await phone.enroll().success())
        return phone
    }

    /// Asks the user of a phone, and returns the id of the challenge.
    func ask(_ phone: OktaPhone, _ type: String = "tap", _ members: JSONObject = JSONObject()) async throws -> String {
        var body: JSONObject = ["type": .string(type)]
        for member in members.members { body[member.name] = member.value }
        return try #require(try await shop.ask(phone.user, body)["id"]?.string)
    }
}

/// A phone with Okta's device SDK.
struct OktaPhone: Sendable {
    let server: TestServer
    let client: String
    /// The access token of the sign-in.
    let token: String
    let possession = PrivateJWK(P256.Signing.PrivateKey(), keyID: UUID().uuidString)
    /// The key that the user's biometric unlocks; nil if there is none.
    let verification: PrivateJWK?
    let instance = PrivateJWK(P256.Signing.PrivateKey(), keyID: UUID().uuidString)
    /// The enrollment's id and the user's.
    var enrollment = (id: "", user: "")

    init(server: TestServer, client: String, token: String, verifies: Bool = false) {
        self.server = server
        self.client = client
        self.token = token
        verification = verifies ? PrivateJWK(P256.Signing.PrivateKey(), keyID: UUID().uuidString) : nil
    }

    var id: String { enrollment.id }
    var user: String { enrollment.user }
    var path: String { "\(OktaScene.path)/\(id)" }

    /// A public key as the SDK sends it: without `alg` and `use`.
    static func jwk(_ key: PrivateJWK) -> JSONValue {
        var object = key.publicKey.json.object ?? JSONObject()
        object["alg"] = nil
        object["use"] = nil
        object["okta:kpr"] = "HARDWARE"
        object["okta:isFipsCompliant"] = true
        return .object(object)
    }

    /// The body of a first enrollment, field by field.
    var request: JSONObject {
        [
            "authenticatorId": .string(client),
            "device": [
                "displayName": "Anna's iPhone", "platform": "IOS", "manufacturer": "APPLE", "model": "iPhone12,4",
                "osVersion": "15.2.0", "secureHardwarePresent": true, "screenLockType": "BIOMETRIC",
                "clientInstanceBundleId": "com.example.bank", "clientInstanceVersion": "3.1",
                "clientInstanceDeviceSdkVersion": "DeviceAuthenticator 1.1.0",
                "authenticatorAppKey": "1B2C", "clientInstanceKey": Self.jwk(instance),
            ],
            "methods": [
                "push": [
                    "pushToken": "0badc0de", "apsEnvironment": "development",
                    "capabilities": ["transactionTypes": ["LOGIN", "CIBA"]], "keys": keys,
                ]
            ],
        ]
    }

    private var keys: JSONValue {
        .members([
            "proofOfPossession": Self.jwk(possession), "userVerification": verification.map { Self.jwk($0) },
        ])
    }

    /// The id of an enrollment and that of its user.
    func read(_ reply: JSONValue) throws -> (id: String, user: String) {
        (try #require(reply["id"]?.string), try #require(reply["user"]?["id"]?.string))
    }

    func call(
        _ method: HTTPMethod, _ path: String, _ body: JSONValue? = nil, by token: String?? = .none,
        type: String = "application/json"
    ) async throws -> Reply {
        var headers = [("Accept", "application/json; okta-version=1.0.0")]
        if body != nil { headers.append(("Content-Type", type)) }
        let bearer: String? = if let token { token } else { self.token }
        if let bearer { headers.append(("Authorization", "Bearer \(bearer)")) }
        return try await server.send(method, path, headers: headers, body: body?.encoded, isContract: false)
    }

    func enroll(_ body: JSONObject? = nil) async throws -> Reply {
        try await call(.POST, OktaScene.path, .object(body ?? request))
    }

    func patch(_ push: JSONValue, by token: String? = nil) async throws -> Reply {
        try await call(
            .PATCH, path, ["methods": ["push": push]], by: token ?? self.token,
            type: "application/merge-patch+json; okta-version=1.0.0")
    }

    /// What the phone is asked now: the JWTs.
    func pending(by token: String? = nil) async throws -> [String] {
        let list = try await call(.GET, "\(path)/push/notifications", by: token ?? self.token).success()
        return try #require(list.array).map { entry in
            #expect(entry["payloadVersion"] == "IDXv1", "\(entry)")
            return try #require(entry["challenge"]?.string)
        }
    }

    /// The claims of a JWT, whoever has signed it.
    static func claims(_ jwt: String) throws -> JSONValue {
        let parts = jwt.split(separator: ".")
        return try JSONValue(parsing: try #require(Base64URL.decode(try #require(parts.dropFirst().first))))
    }

    /// The answer to a challenge, as the SDK signs it.
    ///
    /// - Parameters:
    ///   - challenge: the JWT that the server has sent.
    ///   - consent: what the app says that its user did.
    ///   - isVerified: whether the key of the biometric signs.
    ///   - key: the key that signs; the phone's own by default.
    ///   - change: changes the claims.
    func answer(
        to challenge: String, _ consent: String = "APPROVED_CONSENT_PROMPT", isVerified: Bool = false,
        signedBy key: PrivateJWK? = nil, _ change: (inout JSONObject) -> Void = { _ in }
    ) async throws -> String {
        let asked = try Self.claims(challenge)
        let now = server.clock.now.seconds
        var claims: JSONObject = [
            "iss": .string(id), "aud": try #require(asked["iss"]), "sub": .string(user), "iat": .integer(now),
            "exp": .integer(now + 300), "nbf": .integer(now - 300), "jti": .string(UUID().uuidString),
            "tx": try #require(asked["transactionId"]), "nonce": try #require(asked["nonce"]), "amr": [],
            "keyType": isVerified ? "userVerification" : "proofOfPossession",
            "methodEnrollmentId": try #require(asked["methodEnrollmentId"]),
            "deviceSignals": ["id": .string(id), "clientInstanceId": .string(id), "authenticatorAppKey": "1B2C"],
            "challengeResponseContext": [
                "userConsent": .string(consent),
                "transactionType": asked["challengeContext"]?["transactionType"] ?? "LOGIN",
            ],
            "integrations": [], "signalProviders": [],
        ]
        change(&claims)
        let own = try #require(isVerified ? verification : possession)
        return try await JWS.sign(
            JSONValue.object(claims).encoded, type: "okta-pushbind+jwt", by: key ?? own, keyID: own.keyID)
    }

    /// Sends an answer to where the challenge says, without a token.
    func verify(_ answer: String, at challenge: String) async throws -> Reply {
        let uri = try #require(try Self.claims(challenge)["verificationUri"]?.string)
        let issuer = "\(server.issuer)"
        try #require(uri.hasPrefix(issuer))
        return try await post(answer, to: String(uri.dropFirst(issuer.count)))
    }

    func post(_ answer: String, to path: String) async throws -> Reply {
        try await call(.POST, path, ["method": "push", "challengeResponse": .string(answer)], by: .some(nil))
    }

    /// The assertion for a maintenance token, as the SDK signs it.
    func assertion(
        signedBy key: PrivateJWK? = nil, _ change: (inout JSONObject) -> Void = { _ in }
    ) async throws -> String {
        let now = server.clock.now.seconds
        var claims: JSONObject = [
            "iss": "urn:okta:devices:app:authenticator", "aud": .string("\(server.issuer)"), "sub": .string(user),
            "methodEnrollmentId": .string(id), "iat": .integer(now), "exp": .integer(now + 300),
            "nbf": .integer(now - 300), "jti": .string(UUID().uuidString),
        ]
        change(&claims)
        return try await JWS.sign(
            JSONValue.object(claims).encoded, type: "JWT", by: key ?? possession, keyID: possession.keyID)
    }

    /// Asks for a maintenance token, in the SDK's form: percent signs in the place of blanks, and nothing else escaped.
    func maintain(
        _ assertion: String, _ scope: String = OktaScene.maintaining, client: String? = nil
    ) async throws -> Reply {
        let form =
            "grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer&client_id=\(client ?? self.client)"
            + "&scope=\(scope.replacing(" ", with: "%20"))&assertion=\(assertion)"
        return try await server.send(
            .POST, "/oauth2/v1/token",
            headers: [("Content-Type", "application/x-www-form-urlencoded"), ("Accept", "application/json")],
            body: Array(form.utf8), isContract: false)
    }
}

/// Expects exactly this refusal, in the shape that the SDK decodes.
func expectCode(_ reply: Reply, _ status: Int, _ code: String, location: SourceLocation = #_sourceLocation) {
    #expect(reply.status == status, "\(reply)", sourceLocation: location)
    #expect(reply.json["errorCode"] == .string(code), "\(reply)", sourceLocation: location)
    #expect(
        reply.json.object?.members.map(\.name) == [
            "errorCode", "errorSummary", "errorLink", "errorId", "errorCauses",
        ], "\(reply)", sourceLocation: location)
}

extension Reply {
    /// What is told of a refusal, without the name of the request.
    var told: JSONValue {
        var object = json.object ?? JSONObject()
        object["errorId"] = nil
        return .object(object)
    }
}
