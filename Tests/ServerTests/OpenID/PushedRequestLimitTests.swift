import Encodings
import ServerTestSupport
import Testing

// Spec: RFC 9126 §2.3.
@Suite("How many requests clients push")
struct PushedRequestLimitTests {
    @Test("RFC 9126 §2.3: for apps a network pushes six hundred requests a minute, good or not, and then gets 429")
    func network() async throws {
        let origin = "https://app.example.com"
        let settings: JSONObject = ["profile": "native", "redirect_uris": [.string("\(origin)/callback")]]
        try await SignInPageScene.with(settings) { scene in
            func push(_ type: String) async throws -> Reply {
                try await scene.push(
                    ["redirect_uri": "\(origin)/callback", "response_type": type], headers: [])
            }
            try await scene.server.clock.stopped { _ in
                for _ in 0..<599 { expectOAuthError(try await push("token"), "unsupported_response_type") }
                #expect(try await push("code").status == 201)
                for type in ["code", "token"] {
                    let limited = try await push(type)
                    expectOAuthError(limited, "temporarily_unavailable", 429)
                    #expect(limited.headers["content-type"] == "application/json", "\(limited)")
                    #expect(limited.headers["retry-after"] == "60" && limited.json["request_uri"] == nil, "\(limited)")
                }
            }
            scene.server.clock.advance(seconds: 60)
            #expect(try await push("code").status == 201)
        }
    }
}
