import CountersignDelivery
import Encodings
import JOSE
import TestSupport
import Testing

/// What stands for Google's servers.
struct FCMPeer: Sendable {
    static let account = "sender@example-project.iam.gserviceaccount.com"
    static let keyID = "0123456789abcdef0123456789abcdef01234567"
    static let project = "example-project"
    private static let key = Result { try RSAPrivateKey() }

    let process: PushPeerProcess
    /// What a server needs to send there.
    let settings: FCMSettings

    /// Runs something while a peer runs.
    static func with<Result>(_ body: (FCMPeer) async throws -> Result) async throws -> Result {
        let key = try Self.key.get()
        let process = try await PushPeerProcess("fcm", key: key.publicKey.derRepresentation, [account, keyID, project])
        let settings = try FCMSettings(
            serviceAccount: serviceAccount(key, tokenURL: "\(process.url)/token").encoded, url: process.url,
            authorities: process.authorities)
        let result = try await body(FCMPeer(process: process, settings: settings))
        try await process.end()
        return result
    }

    /// A service account's file, as Google's console gives it.
    static func serviceAccount(_ key: RSAPrivateKey, tokenURL: String) -> JSONValue {
        let der = Base64.encode(key.derRepresentation.reveal())
        return [
            "type": "service_account", "project_id": .string(project), "private_key_id": .string(keyID),
            "private_key": .string("-----BEGIN RSA PRIVATE KEY-----\n\(der)\n-----END RSA PRIVATE KEY-----\n"),
            "client_email": .string(account), "client_id": "100000000000000000000",
            "auth_uri": "https://accounts.google.com/o/oauth2/auth", "token_uri": .string(tokenURL),
        ]
    }

    func arrival() async throws -> PushPeerProcess.Arrival { try await process.arrival() }

    func order(_ members: JSONObject) async throws { try await process.order(members) }
}
