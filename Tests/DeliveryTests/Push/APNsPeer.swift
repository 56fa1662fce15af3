import CountersignDelivery
import CountersignWire
import Crypto
import Encodings
import TestSupport
import Testing

/// What stands for Apple's servers.
struct APNsPeer: Sendable {
    static let team = "TEAM123456"
    static let keyID = "KEY1234567"
    static let app = "com.example.bank"

    let process: PushPeerProcess
    /// What a server needs to send there.
    let settings: APNsSettings

    /// Runs something while a peer runs.
    static func with<Result>(_ body: (APNsPeer) async throws -> Result) async throws -> Result {
        let key = P256.Signing.PrivateKey()
        let process = try await PushPeerProcess(
            "apns", key: Array(key.publicKey.pemRepresentation.utf8), [team, keyID, app])
        let app = try #require(AppID(app))
        let settings = APNsSettings(
            team: team, keyID: keyID, key: key, apps: [app], url: process.url, authorities: process.authorities)
        let result = try await body(APNsPeer(process: process, settings: settings))
        try await process.end()
        return result
    }

    func arrival() async throws -> PushPeerProcess.Arrival { try await process.arrival() }

    func order(_ members: JSONObject) async throws { try await process.order(members) }
}
