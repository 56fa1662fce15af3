import AsyncHTTPClient
import CountersignServer
import CountersignWire
import Foundation
import NIOCore
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing

@Suite("Waiting over TLS", .timeLimit(.minutes(15)))
struct TLSWaitTests {
    static func waiting(_ port: Int) async throws -> Bool {
        let request = HTTPClientRequest(url: "http://127.0.0.1:\(port)/metrics")
        let response = try await TestHTTP.client.execute(request, timeout: .seconds(30))
        let page = String(buffer: try await response.body.collect(upTo: 1 << 20))
        return page.contains("\ncountersign_waiting_requests 1\n")
    }

    @Test(
        "A caller that hangs up in the middle of a wait frees its place, as it does without TLS",
        arguments: ["is killed", "gives up"])
    func hangUp(_ how: String) async throws {
        let (curl, openssl) = (try #require(Program.path(of: "curl")), try #require(Program.path(of: "openssl")))
        let folder = try TemporaryFolder()
        let files = TLSFiles(certificate: folder.path("cert.pem"), key: folder.path("key.pem"))
        let made = try await RunningProgram.run(
            openssl,
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout",
                files.key, "-out", files.certificate, "-days", "30", "-subj", "/CN=localhost",
            ])
        #expect(made.status == 0)
        let data = folder.path("data")
        // The test's own callers do not believe this certificate, so what is asked is asked before.
        let (path, authorization) = try await TestServer.with(dataFolder: data) { server in
            let scene = try await Scene.make(server)
            return ("/v1/challenges/\(try await scene.ask().id)?wait=60", scene.shop.authorization)
        }
        let port = FreePort.next()
        let address = ListenAddress("127.0.0.1:\(port)")
        try await TestServer.with(
            dataFolder: data,
            settings: {
                $0.tls = files
                $0.metrics = address
            }
        ) { server in
            let config = folder.path("curl")
            try Data("header = \"Authorization: \(authorization)\"\n".utf8).write(to: URL(filePath: config))
            // Killed, it only closes the connection; who gives up says so in TLS as well.
            let patience = how == "gives up" ? "5" : "70"
            let caller = try RunningProgram(
                curl, ["-s", "-k", "-m", patience, "-K", config, server.issuer.uri(path)])
            while try await !Self.waiting(port) { await Task.yield() }
            if how == "is killed" { caller.send(SIGKILL) }
            while try await Self.waiting(port) { await Task.yield() }
            #expect(try await caller.result().output.isEmpty)
        }
    }
}
