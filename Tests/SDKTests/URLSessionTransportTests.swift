import Countersign
import CountersignWire
import Encodings
import Foundation
import NIOHTTP1
import ServerTestSupport
import Testing

@Suite("HTTP by the system's own means", .timeLimit(.minutes(15)))
struct URLSessionTransportTests {
    private func request(_ path: String, at server: TestServer) throws -> TransportRequest {
        TransportRequest(
            method: "GET", url: try #require(URL(string: server.issuer.uri(path))), headers: [:], timeout: 60)
    }

    @Test("Redirects are not followed", arguments: [301, 302, 303, 307, 308])
    func redirects(_ status: Int) async throws {
        try await CallbackReceiver.with(answering: [status]) { receiver in
            let request = TransportRequest(
                method: "POST", url: try #require(URL(string: receiver.url)), body: Array("{}".utf8), timeout: 10)
            #expect(try await URLSessionTransport().send(request).status == status)
        }
    }

    @Test("A response that asks for a password is returned with its body")
    func passwords() async throws {
        try await TestServer.with { server in
            let url = try #require(URL(string: server.issuer.uri("/oauth2/token")))
            let transport = URLSessionTransport()
            let form = "grant_type=refresh_token&refresh_token=a&client_id=cli_unknown"
            let request = TransportRequest(
                method: "POST", url: url, headers: ["Content-Type": "application/x-www-form-urlencoded"],
                body: Array(form.utf8), timeout: 10)
            let response = try await transport.send(request)
            #expect(response.status == 401 && response.headers["www-authenticate"]?.hasPrefix("Basic ") == true)
            #expect(try JSONValue(parsing: response.body)["error"] == "invalid_client")
        }
    }

    /// An app on Apple's systems takes the second way, which nothing else takes here.
    @Test("Tasks that the system completes bring the same responses and the same failures")
    func systemCompletes() async throws {
        let refused = TransportRequest(
            method: "POST", url: try #require(URL(string: "http://127.0.0.1:\(FreePort.next())/")), body: [],
            timeout: 10)
        try await TestServer.with { server in
            let read = try request("/healthz", at: server)
            var sent = try request("/of/nobody", at: server)
            sent.method = "POST"
            sent.body = Array("{}".utf8)
            for systemCompletes in [false, true] {
                let transport = URLSessionTransport(systemCompletes: systemCompletes)
                var statuses: [Int] = []
                for request in [read, sent] {
                    let response = try await transport.send(request)
                    statuses.append(response.status)
                    #expect(response.headers["content-type"] != nil && !response.body.isEmpty)
                }
                #expect(statuses == [200, 404])
                let failure = await #expect(throws: URLError.self) { try await transport.send(refused) }
                #expect(failure?.code == .cannotConnectToHost)
            }
        }
    }

    @Test("A connection that breaks leaves no request half sent: it is sent whole, or said to have failed")
    func brokenConnections() async throws {
        let server = try await BreakingServer()
        let transport = URLSessionTransport()
        let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/"))
        var replies = 0
        for number in 0..<6 {
            let isPost = number % 3 != 2
            let request = TransportRequest(
                method: isPost ? "POST" : "GET", url: url, body: isPost ? [UInt8](repeating: 0x7B, count: 1000) : nil,
                timeout: 10)
            do {
                #expect(try await transport.send(request).status == 200)
                replies += 1
            } catch {
                #expect((error as? URLError)?.code != .timedOut)
            }
        }
        let heard = server.heard
        #expect(heard.partial == [:])
        #expect(heard.whole == replies + heard.cut)
        #expect(replies >= 3)
        try await server.stop()
    }

    @Test("Requests that are cancelled while their reply comes end, all of them, and block nobody")
    func cancellation() async throws {
        try await TestServer.with { server in
            let transport = URLSessionTransport()
            let request = try request("/healthz", at: server)
            for round in 0..<400 {
                let tasks = (0..<4).map { _ in Task { try await transport.send(request) } }
                // About as long as a reply takes, so that the two meet.
                for _ in 0..<(round % 40) { await Task.yield() }
                try await Task.sleep(for: .microseconds(100 * (round % 30)))
                for task in tasks { task.cancel() }
                for task in tasks {
                    if case .success(let response) = await task.result { #expect(response.status == 200) }
                }
            }
            #expect(try await transport.send(request).status == 200)
        }
    }
}
