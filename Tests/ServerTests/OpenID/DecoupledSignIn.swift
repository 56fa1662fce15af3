import CountersignWire
import Encodings
import ServerTestSupport
import TestSupport
import Testing

@testable import CountersignServer

/// What a device or a client's server begins without a browser, and the customer decides about on their phone.
extension SignInPageScene {
    /// The client's server polls, after a pause.
    func poll(_ begun: Reply, after seconds: Int64 = 5, wait: String? = nil) async throws -> Reply {
        server.clock.advance(seconds: seconds)
        let id = try #require(begun.json["auth_req_id"]?.string, "\(begun)")
        let fields = [("grant_type", OAuthDoor.backchannelGrantType), ("auth_req_id", id)]
        return try await token(fields, basic: credential, prefer: wait)
    }

    /// The device polls, after a pause; a client that does not authenticate names itself.
    func pollAsDevice(
        _ begun: Reply, after seconds: Int64 = 5, wait: String? = nil, basic: (String, String)? = nil
    ) async throws -> Reply {
        server.clock.advance(seconds: seconds)
        let code = try #require(begun.json["device_code"]?.string, "\(begun)")
        let named = basic == nil ? [("client_id", credential.id)] : []
        let fields = [("grant_type", OAuthDoor.deviceGrantType), ("device_code", code)]
        return try await token(fields + named, basic: basic, prefer: wait)
    }

    /// The customer says yes on their phone, by the number that the device or the client shows.
    func approve(_ begun: Reply) async throws {
        let number = try #require(begun.json["number"]?.string, "\(begun)")
        let reply = try await scene.approve((try await pending(), number))
        #expect(reply.status == 200, "\(reply)")
    }

    func deny() async throws {
        let reply = try await scene.phone.answer(try await pending(), .denied)
        #expect(reply.status == 200, "\(reply)")
    }
}
