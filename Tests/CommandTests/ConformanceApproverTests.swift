import AsyncHTTPClient
import Encodings
import Foundation
import NIOCore
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

/// The program of `Examples/ConformanceApprover` in the place of a person, beside a real server.
@Suite("The program that approves for a conformance suite", .timeLimit(.minutes(15)))
struct ConformanceApproverTests {
    /// The binary, as it was built beside these tests.
    private static var path: String {
        get throws {
            URL(filePath: try Tool.path).deletingLastPathComponent().appending(path: "ConformanceApprover").path
        }
    }

    /// Posts a form, which may be empty.
    private static func post(
        _ url: String, _ form: String = "", fields: [(String, String)] = []
    ) async throws -> (status: Int, body: [UInt8]) {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/x-www-form-urlencoded")
        for (name, value) in fields { request.headers.add(name: name, value: value) }
        request.body = .bytes(Array(form.utf8))
        let response = try await TestHTTP.client.execute(request, timeout: .seconds(60))
        let body = Array(try await response.body.collect(upTo: 1 << 20).readableBytesView)
        return (Int(response.status.code), body)
    }

    // Spec: CIBA Core 1.0 §7, §10.1, §11.
    @Test("What the suite posts decides what it has asked; a page of a browser decides nothing")
    func answers() async throws {
        try await ServedTool.with { tool in
            let shop = try await tool.furnish()
            let client = String(shop.prefix { $0 != ":" })
            _ = try await tool.json("type", "set", "suite", "--no-number-entry", "--denial-pause", "0")
            _ = try await tool.json(
                "client", "openid", "set", client, "--profile", "web", "--backchannel", "poll", "--backchannel-type",
                "suite")
            let program = try RunningProgram(
                try Self.path, ["--home", tool.home, "--port", "\(FreePort.next())"])
            let line = try #require(await program.line(holding: "For tests alone."))
            let template = "http://" + (line.components(separatedBy: "http://").last ?? "")
            #expect(template.hasPrefix("http://127.0.0.1:"))
            func answer(_ id: String, _ action: String, fields: [(String, String)] = []) async throws -> Int {
                let url = template.replacing("{auth_req_id}", with: id).replacing("{action}", with: action)
                return try await Self.post(url, fields: fields).status
            }
            let basic = [("authorization", "Basic \(Base64.encode(Array(shop.utf8)))")]
            for (action, status, member) in [("allow", 200, "access_token"), ("deny", 400, "error")] {
                let asked = try await Self.post(
                    "\(tool.url)/oauth2/bc-authorize", "scope=openid&login_hint=external_id%3Acustomer-1",
                    fields: basic)
                let id = try #require(try JSONValue(parsing: asked.body)["auth_req_id"]?.string)
                for wrong in ["", "yes"] { #expect(try await answer(id, wrong) == 400) }
                #expect(try await answer(id, action, fields: [("origin", "https://example.com")]) == 403)
                #expect(try await answer(id, action) == 200)
                let polled = try await Self.post(
                    "\(tool.url)/oauth2/token", "grant_type=urn:openid:params:grant-type:ciba&auth_req_id=\(id)",
                    fields: basic)
                let reply = try JSONValue(parsing: polled.body)
                #expect(polled.status == status && reply[member] != nil, "\(reply)")
                #expect(action == "allow" || reply["error"] == "access_denied", "\(reply)")
            }
            program.send(SIGTERM)
            #expect(try await program.result().status == 0)
        }
    }

    @Test("It says that it is for tests, and starts with no folder that has no device")
    func starts() async throws {
        let help = try await RunningProgram.run(try Self.path, ["--help"])
        // Its lines are broken anywhere.
        let text = help.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(text.contains("For tests alone") && text.contains("no part of the server"), "\(text)")
        let folder = try TemporaryFolder()
        let result = try await RunningProgram.run(try Self.path, ["--home", folder.url.path])
        #expect(result.status != 0 && result.errors.contains("has no device"), "\(result.errors)")
    }
}
