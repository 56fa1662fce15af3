import CountersignWire
import Encodings
import Foundation
import Testing

@testable import Countersign

/// The replies of `device-authorization.json` and `device-poll.json` in `docs/protocol/vectors`, which another
/// implementation has made.
@Suite("docs/protocol/vectors: replies to a device that signs its user in by an approval elsewhere")
struct DeviceGrantVectorTests {
    private static func file(_ name: String) throws -> (JSONValue, cases: [JSONValue]) {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../docs/protocol/vectors/\(name).json")
        let json = try JSONValue(parsing: Array(Data(contentsOf: file)))
        let cases = try #require(json["cases"]?.array)
        try #require(cases.count > 5)
        return (json, cases)
    }

    /// The reply of a case.
    private static func reply(_ vector: JSONValue) throws -> TransportResponse {
        let status = Int(try #require(vector["status"]?.integer))
        let body = Array(try #require(vector["body"]?.string).utf8)
        let retryAfter = vector["retry_after"]?.integer
        return TransportResponse(
            status: status, headers: retryAfter.map { ["retry-after": "\($0)"] } ?? [:], body: body)
    }

    @Test("RFC 8628 §3.2: all of a reply is checked before any of it is shown")
    func authorizations() async throws {
        let (file, cases) = try Self.file("device-authorization")
        let text = try #require(file["issuer"]?.string)
        let issuer = try #require(Issuer(text))
        for vector in cases {
            let name = try #require(vector["name"]?.string)
            let reply = try Self.reply(vector)
            let error = await code {
                _ = try DeviceAuthorization.code(in: reply)
                _ = try DeviceAuthorization(reply, of: issuer)
            }
            #expect(error == vector["error"]?.string ?? "", "\(name)")
            #expect(vector["valid"]?.bool == error.isEmpty, "\(name)")
            guard error.isEmpty else { continue }
            let shown = try #require(vector["shown"])
            let secret = try DeviceAuthorization.code(in: reply)
            #expect(secret.reveal() == shown["device_code"]?.string, "\(name)")
            let authorization = try DeviceAuthorization(reply, of: issuer)
            let prompt = authorization.prompt
            #expect(prompt.userCode == shown["user_code"]?.string, "\(name)")
            #expect(prompt.number == shown["number"]?.string, "\(name)")
            #expect(prompt.verificationURI.absoluteString == shown["verification_uri"]?.string, "\(name)")
            let whole = prompt.verificationURIComplete?.absoluteString
            #expect(whole == shown["verification_uri_complete"]?.string, "\(name)")
            let expiresIn = try #require(shown["expires_in"]?.integer)
            #expect(prompt.expiresIn == .seconds(expiresIn), "\(name)")
            let interval = try #require(shown["interval"]?.integer)
            var pace = authorization.pace
            let pause = pace.pause(afterPollOf: .zero)
            #expect(pause >= .seconds(interval) && pause < .seconds(interval + 1), "\(name)")
        }
    }

    @Test("RFC 8628 §3.5: what a device does about each reply to a poll, and when it asks again")
    func polls() throws {
        let (file, cases) = try Self.file("device-poll")
        let interval = try #require(file["interval"]?.integer)
        for vector in cases {
            let name = try #require(vector["name"]?.string)
            var pace = PollPace(interval: interval)
            let (reaction, pause) = Self.reaction(to: try Self.reply(vector), &pace)
            #expect(reaction == vector["reaction"]?.string, "\(name)")
            let expected = vector["pause"]?.integer
            #expect((pause == nil) == (expected == nil), "\(name)")
            guard let pause, let expected else { continue }
            #expect(pause >= .seconds(expected), "\(name)")
            // After a failure it waits longer each time.
            #expect(reaction == "later" || pause < .seconds(expected + 1), "\(name)")
        }
    }

    /// What the SDK does, in the words of the vectors, and after what pause it asks again.
    private static func reaction(to response: TransportResponse, _ pace: inout PollPace) -> (String, Duration?) {
        guard let reply = try? DevicePollReply(response) else { return ("end", nil) }
        switch reply {
        case .tokens: return ("tokens", nil)
        case .pending: return ("ask_again", pace.pause(afterPollOf: .zero))
        case .tooFast(let time): return ("slower", pace.pauseAfterTooFast(retryAfter: time))
        case .unavailable(let time): return ("later", pace.pauseAfterFailure(retryAfter: time))
        case .ended(.declined): return ("declined", nil)
        case .ended(.expired): return ("expired", nil)
        case .ended: return ("end", nil)
        }
    }
}
