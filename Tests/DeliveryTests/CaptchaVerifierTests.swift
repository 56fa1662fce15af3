import CountersignCore
import CountersignDelivery
import CountersignWire
import Encodings
import NIOCore
import Testing

// Spec: docs/decisions/0082-proof-of-work.md.
@Suite("Asking a captcha's provider about a token", .timeLimit(.minutes(5)))
struct CaptchaVerifierTests {
    private static let token = "0.to+ken/&response=x"

    /// What comes of an answer.
    private static func verify(
        answering reply: Receiver.Reply, reach: OutboundAddressPolicy = .publicAddressesAndLoopback,
        timeout: TimeAmount = .seconds(60), starting: Bool = true
    ) async throws -> (verdict: CaptchaVerdict, calls: [Receiver.Call], seconds: Double) {
        try await Receiver.with({ _ in reply }) { receiver, base in
            let provider = CaptchaProvider(url: "\(base)/verify?a=b", secret: Secret("s=1&ä"))
            let name = try #require(CaptchaName("own"))
            let verifier = CaptchaVerifier([name: provider], reach: reach, timeout: timeout)
            #expect(verifier.names == [name])
            if starting { verifier.start() }
            let start = ContinuousClock.now
            let result: Result<CaptchaVerdict, any Error>
            do {
                result = .success(await verifier.verify(try #require(CaptchaToken(token)), by: name))
            } catch {
                result = .failure(error)
            }
            try await verifier.shutdown()
            return (try result.get(), receiver.calls, (ContinuousClock.now - start) / .seconds(1))
        }
    }

    private static func reply(_ body: String, status: String = "200 OK") -> Receiver.Reply {
        .bytes(Array("HTTP/1.1 \(status)\r\ncontent-length: \(body.utf8.count)\r\n\r\n\(body)".utf8))
    }

    @Test("Secret and token are posted as a form, and nothing else of the person or of us")
    func posted() async throws {
        let said = #"{"success": true, "challenge_ts": "2026-11-29T10:15:00Z", "hostname": "example.com", "x": 0.5}"#
        let verified = try await Self.verify(answering: Self.reply(said))
        #expect(verified.verdict == .solved)
        let call = try #require(verified.calls.first)
        #expect(call.line == "POST /verify?a=b HTTP/1.1" && verified.calls.count == 1)
        #expect(
            String(decoding: call.body, as: UTF8.self)
                == "secret=s%3D1%26%C3%A4&response=0.to%2Bken%2F%26response%3Dx")
        #expect(call.fields["content-type"] == "application/x-www-form-urlencoded")
        #expect(
            call.fields.keys.sorted() == [
                "accept", "connection", "content-length", "content-type", "host", "user-agent",
            ])
    }

    private static let unlike = "the reply is not that of a captcha's provider"

    @Test(
        "Only true is a yes, only false a no; all else says nothing, and a redirect is not followed",
        arguments: [
            (reply(#"{"success": false}"#), .refused),
            (reply(#"{"success": false, "error-codes": ["timeout-or-duplicate"]}"#), .refused),
            (reply(#"{"success": false, "error-codes": "invalid-input-secret"}"#), .refused),
            (
                reply(#"{"success": false, "error-codes": ["x", "invalid-input-secret"]}"#),
                .unavailable("the provider says invalid-input-secret")
            ),
            (
                reply(#"{"success": false, "error-codes": ["internal-error"]}"#),
                .unavailable("the provider says internal-error")
            ),
            (reply(#"{"success": "true"}"#), .unavailable(unlike)), (reply(#"{"success": 1}"#), .unavailable(unlike)),
            (reply(#"{"success": null}"#), .unavailable(unlike)), (reply(#"{"Success": true}"#), .unavailable(unlike)),
            (reply(#"{"success": false, "success": true}"#), .unavailable(unlike)),
            (reply(#"[{"success": true}]"#), .unavailable(unlike)), (reply("true"), .unavailable(unlike)),
            (reply("{\"success\": true"), .unavailable(unlike)), (reply(""), .unavailable(unlike)),
            (.status(302, fields: ["location: /other"]), .unavailable("the host answered 302")),
            (reply(#"{"success": true}"#, status: "201 Created"), .unavailable("the host answered 201")),
            (reply(#"{"success": true}"#, status: "500 Oops"), .unavailable("the host answered 500")),
            (
                reply(#"{"success": true}"# + String(repeating: " ", count: 16_384)),
                .unavailable("the reply is longer than 16384 bytes")
            ),
            (.endless, .unavailable("the reply is longer than 16384 bytes")),
        ] as [(Receiver.Reply, CaptchaVerdict)])
    func said(_ reply: Receiver.Reply, _ verdict: CaptchaVerdict) async throws {
        let verified = try await Self.verify(answering: reply)
        #expect(verified.verdict == verdict && verified.calls.count == 1)
    }

    @Test(
        "A provider that says nothing, or stops in the middle, is waited for as long as is allowed",
        arguments: [
            .silence, .beginning(Array("HTTP/1.1 200 OK\r\ncontent-length: 17\r\n\r\n{\"success\": true".utf8)),
        ] as [Receiver.Reply])
    func slow(_ reply: Receiver.Reply) async throws {
        let verified = try await Self.verify(answering: reply, timeout: .seconds(1))
        #expect(verified.verdict == .unavailable("Deadline exceeded"))
        // On a loaded machine it takes longer; without a deadline, fifteen seconds.
        #expect(verified.seconds >= 1 && verified.seconds < 14, "\(verified.seconds)")
    }

    @Test("It is asked no further than callbacks go, by a server that runs, and by its own name")
    func reach() async throws {
        let solved = Self.reply(#"{"success": true}"#)
        let inside = try await Self.verify(answering: solved, reach: .publicAddresses)
        #expect(inside.verdict == .unavailable("the host's address is not public") && inside.calls.isEmpty)
        let stopped = try await Self.verify(answering: solved, starting: false)
        #expect(stopped.verdict == .unavailable("the server does not run") && stopped.calls.isEmpty)
        let none = CaptchaVerifier([:], reach: .allAddresses)
        let verdict = await none.verify(try #require(CaptchaToken("x")), by: try #require(CaptchaName("own")))
        #expect(verdict == .unavailable("the settings have no such provider"))
    }
}
