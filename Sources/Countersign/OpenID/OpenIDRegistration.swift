import CountersignWire
import Crypto
import Encodings
public import Foundation

/// An app's registration at an issuer, as a client that keeps no secret.
///
/// What is in an app can be read by whoever has the app, so there is no place for a client secret here. Spec: RFC 8252
/// §8.5.
public struct OpenIDRegistration: Hashable, Sendable {
    /// The issuer's base URL: `https://host`, or `http` on a loopback host.
    public let issuer: URL
    /// The client's id at the issuer.
    public let clientID: String
    /// Where the browser comes back: `https`, a private scheme with a dot, or `http` on a loopback address.
    ///
    /// The port of a loopback address may be any: take the one on which your listener got a place. Spec: RFC 8252 §7.
    ///
    /// An app that only uses ``OpenIDClient/signInElsewhere(loginHint:showing:)`` need not register it at the issuer.
    public let redirectURI: URL
    /// The scopes to ask for; `openid` is always among them.
    ///
    /// With `offline_access` the issuer also gives a refresh token.
    public let scopes: [String]
    /// The APIs for which the app wants access tokens, besides the issuer's own.
    ///
    /// They need the scope `offline_access`: each token is fetched by the refresh token.
    public let apis: [API]

    /// An API that takes access tokens of the issuer.
    ///
    /// Spec: RFC 8707 §2.
    public struct API: Hashable, Sendable {
        /// Its identifier at the issuer, a URI.
        public let identifier: String
        /// The scopes to ask for.
        public let scopes: [String]

        /// An API of these parts.
        public init(_ identifier: String, scopes: [String]) {
            self.identifier = identifier
            self.scopes = scopes
        }
    }

    /// A registration of these parts.
    public init(
        issuer: URL, clientID: String, redirectURI: URL, scopes: [String] = ["openid", "offline_access"],
        apis: [API] = []
    ) {
        self.issuer = issuer
        self.clientID = clientID
        self.redirectURI = redirectURI
        self.scopes = (scopes.contains("openid") ? [] : ["openid"]) + scopes
        self.apis = apis
    }
}

/// A registration whose parts were checked.
struct CheckedRegistration: Sendable {
    let issuer: Issuer
    let clientID: String
    let redirectURI: RedirectURI
    let scopes: [String]
    let apis: [OpenIDRegistration.API]

    init(_ registration: OpenIDRegistration) throws(CountersignError) {
        guard let issuer = Issuer(registration.issuer.absoluteString) else {
            throw .configurationInvalid("the issuer must be https://host, or http on a loopback host")
        }
        let id = registration.clientID
        // Spec: RFC 6749 Appendix A.1.
        guard (1...255).contains(id.utf8.count), id.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw .configurationInvalid("the client's id must be 1 to 255 visible ASCII characters")
        }
        guard let redirectURI = RedirectURI(registration.redirectURI.absoluteString), redirectURI.kind != .bareScheme
        else {
            throw .configurationInvalid(
                "the redirect URI must be https, a private scheme with a dot, or http on a loopback address")
        }
        // Spec: RFC 6749 §3.3.
        let isToken: (String) -> Bool = { scope in
            !scope.isEmpty && scope.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
        }
        guard (registration.scopes + registration.apis.flatMap(\.scopes)).allSatisfy(isToken) else {
            throw .configurationInvalid("a scope is a word of visible ASCII characters")
        }
        guard registration.apis.isEmpty || registration.scopes.contains("offline_access") else {
            throw .configurationInvalid("tokens for APIs need the scope offline_access")
        }
        self.issuer = issuer
        clientID = id
        self.redirectURI = redirectURI
        scopes = registration.scopes
        apis = registration.apis
    }

    /// The field that names whom a token is for, where the app has tokens for several.
    ///
    /// Spec: RFC 8707 §2.2.
    func resource(_ api: String?) -> [(String, String)] {
        apis.isEmpty ? [] : [("resource", api ?? "\(issuer)")]
    }

    /// The name of the vault's record with the tokens of this client: a hash, because neither part may be in a name.
    var recordName: String {
        "tokens-" + Hex.encode(Array(SHA256.hash(data: Array("\(issuer)\n\(clientID)".utf8)).prefix(16)))
    }
}
