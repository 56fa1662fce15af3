import Encodings
import Foundation
import TestSupport
import Testing

@Suite("TLS in the server, spoken to by curl and openssl", .timeLimit(.minutes(15)))
struct TLSTests {
    /// A folder with certificates, and the programs that are spoken with.
    private struct Scene {
        let folder = try? TemporaryFolder()
        let openssl: String
        let curl: String

        init() throws {
            openssl = try #require(Program.path(of: "openssl"))
            curl = try #require(Program.path(of: "curl"))
        }

        func path(_ name: String) throws -> String { try #require(folder).path(name) }

        /// Makes a certificate for this machine: NAME.pem with its key, NAME.key.
        func makeCertificate(_ name: String, withMoreNames more: String = "") async throws {
            let result = try await RunningProgram.run(
                openssl,
                [
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-keyout", path("\(name).key"), "-out", path("\(name).pem"), "-days", "30", "-subj", "/CN=\(name)",
                    "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1\(more)",
                ])
            #expect(result.status == 0, "\(result.errors)")
        }

        /// Puts a certificate in the place of the server's: both files, each at once.
        func install(_ name: String) throws {
            for ending in ["pem", "key"] {
                let draft = try path("draft.\(ending)")
                try? FileManager.default.removeItem(atPath: draft)
                try FileManager.default.copyItem(atPath: path("\(name).\(ending)"), toPath: draft)
                let place = try path("server.\(ending)")
                #expect(rename(draft, place) == 0)
            }
        }

        func start(_ options: [String] = []) async throws -> (RunningProgram, String) {
            let (server, told) = try await ServedTool.start(
                in: try #require(folder),
                ["--tls-certificate", path("server.pem"), "--tls-key", path("server.key")] + options,
                environment: ["COUNTERSIGN_LOG_LEVEL": "notice"])
            return (server, try #require(told["issuer"]?.string))
        }

        /// Whose certificate the server shows.
        func shown(_ url: String, _ options: [String] = []) async throws -> String {
            let address = url.replacing("https://", with: "")
            let result = try await RunningProgram.run(openssl, ["s_client", "-connect", address, "-brief"] + options)
            let lines = (result.output + result.errors).split(separator: "\n")
            return lines.first { $0.hasPrefix("Peer certificate: CN = ") }.map { String($0.dropFirst(23)) } ?? "nobody"
        }

        /// The status of a request whose certificate must be a certain one.
        func get(_ url: String, trusting name: String) async throws -> String {
            try await RunningProgram.run(
                curl, ["-s", "-o", "/dev/null", "-w", "%{http_code}", "--cacert", path("\(name).pem"), url]
            ).output
        }
    }

    @Test("Every command believes the authorities of SSL_CERT_FILE, the terminal phone too, and no others")
    func namedAuthorities() async throws {
        let scene = try Scene()
        try await scene.makeCertificate("one")
        try await scene.makeCertificate("two")
        try scene.install("one")
        let (server, url) = try await scene.start()
        let token = try String(contentsOfFile: try scene.path("server data/bootstrap.token"), encoding: .utf8)
            .dropLast()
        func run(_ arguments: [String], as token: String, trusting name: String) async throws -> ProgramResult {
            try await Tool.run(
                arguments + ["--json"],
                environment: [
                    "COUNTERSIGN_URL": url, "COUNTERSIGN_TOKEN": token, "SSL_CERT_FILE": try scene.path("\(name).pem"),
                    "COUNTERSIGN_DEVICE_HOME": try scene.path("phone"),
                ])
        }
        #expect(try await run(["client", "create", "--name", "Shop"], as: "\(token)", trusting: "two").status == 3)
        let shop = try await run(["client", "create", "--name", "Shop"], as: "\(token)", trusting: "one").json()
        let credentials = "\(shop["client_id"]?.string ?? ""):\(shop["client_secret"]?.string ?? "")"
        let user = try await run(["user", "create"], as: credentials, trusting: "one").json()["id"]?.string ?? ""
        let made = try await run(["user", "ticket", user], as: credentials, trusting: "one").json()
        let ticket = try #require(made["qr"]?.string)
        let refused = try await run(["device", "enroll", "--ticket", ticket], as: "none", trusting: "two")
        #expect(refused.status != 0)
        let enrolled = try await run(["device", "enroll", "--ticket", ticket], as: "none", trusting: "one")
        #expect(enrolled.status == 0, "\(enrolled.errors)")
        server.send(SIGTERM)
        #expect(try await server.result().status == 0)
    }

    @Test("curl that trusts the certificate is answered, and nobody in plain text")
    func works() async throws {
        let scene = try Scene()
        try await scene.makeCertificate("one")
        try scene.install("one")
        let (server, url) = try await scene.start()
        #expect(url.hasPrefix("https://127.0.0.1:"))
        #expect(try await scene.get("\(url)/readyz", trusting: "one") == "200")
        let plain = try await RunningProgram.run(
            scene.curl, ["-s", "-m", "5", url.replacing("https:", with: "http:") + "/readyz"])
        #expect(plain.status != 0 && plain.output.isEmpty)
        // What came in plain text ends its own connection, no other.
        #expect(try await scene.get("\(url)/readyz", trusting: "one") == "200")
        server.send(SIGTERM)
        #expect(try await server.result().status == 0)
    }

    @Test(
        "RFC 9325 §3.1.1, §4.1, §4.2: TLS 1.2 and 1.3 are spoken, 1.1 is not, nor what does not authenticate; HTTP/1.1 is agreed on"
    )
    func versions() async throws {
        let scene = try Scene()
        try await scene.makeCertificate("one")
        try scene.install("one")
        let (server, url) = try await scene.start()
        #expect(try await scene.shown(url, ["-tls1_3"]) == "one")
        #expect(try await scene.shown(url, ["-tls1_2"]) == "one")
        #expect(try await scene.shown(url, ["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"]) == "nobody")
        // RFC 9325 §4.1: no cipher suite without authenticated encryption.
        #expect(try await scene.shown(url, ["-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-SHA"]) == "nobody")
        // RFC 9325 §4.2: of TLS 1.2 those that are recommended.
        for (suite, name) in [
            ("ECDHE-ECDSA-AES128-GCM-SHA256", "one"), ("ECDHE-ECDSA-AES256-GCM-SHA384", "one"),
            ("ECDHE-ECDSA-CHACHA20-POLY1305", "nobody"),
        ] {
            #expect(try await scene.shown(url, ["-tls1_2", "-cipher", suite]) == name)
        }
        let address = url.replacing("https://", with: "")
        let agreed = try await RunningProgram.run(
            scene.openssl, ["s_client", "-connect", address, "-alpn", "h2,http/1.1"])
        #expect(agreed.output.contains("ALPN protocol: http/1.1"))
        server.send(SIGTERM)
        #expect(try await server.result().status == 0)
    }

    @Test("A new certificate is shown without a restart", arguments: [true, false])
    func reload(bySignal: Bool) async throws {
        let scene = try Scene()
        for name in ["one", "two"] { try await scene.makeCertificate(name) }
        try scene.install("one")
        let (server, url) = try await scene.start()
        #expect(try await scene.shown(url) == "one")
        try scene.install("two")
        if bySignal { server.send(SIGHUP) }
        while try await scene.shown(url) != "two" { try await Task.sleep(for: .milliseconds(20)) }
        #expect(try await scene.get("\(url)/readyz", trusting: "two") == "200")
        server.send(SIGTERM)
        #expect(try await server.result().status == 0)
    }

    // Spec: RFC 8705 §2.2.
    @Test("Own TLS asks for a client's certificate, and what the caller writes of one counts for nothing")
    func clientCertificates() async throws {
        let scene = try Scene()
        for name in ["one", "shop", "other"] { try await scene.makeCertificate(name) }
        try scene.install("one")
        let (server, url) = try await scene.start(["--client-certificates-from", "tls"])
        let token = try String(contentsOfFile: try scene.path("server data/bootstrap.token"), encoding: .utf8)
            .dropLast()
        func run(_ arguments: [String]) async throws -> JSONValue {
            let result = try await Tool.run(
                arguments + ["--json"],
                environment: [
                    "COUNTERSIGN_URL": url, "COUNTERSIGN_TOKEN": "\(token)",
                    "SSL_CERT_FILE": try scene.path("one.pem"),
                ])
            return try result.json()
        }
        let id = try #require(try await run(["client", "create", "--name", "Shop"])["client_id"]?.string)
        let set = try await run([
            "client", "openid", "set", id, "--profile", "web", "--redirect-uri", "https://shop.example.com/callback",
            "--self-signed-certificate", scene.path("shop.pem"),
        ])
        #expect(set["self_signed_tls_client_auth_thumbprints"]?.array?.count == 1, "\(set)")
        func status(_ options: [String]) async throws -> String {
            try await RunningProgram.run(
                scene.curl,
                [
                    "-s", "-o", "/dev/null", "-w", "%{http_code}", "--cacert", scene.path("one.pem"), "-d", "token=x",
                    "-d",
                    "client_id=\(id)",
                ] + options + ["\(url)/oauth2/introspect"]
            ).output
        }
        func having(_ name: String) throws -> [String] {
            ["--cert", try scene.path("\(name).pem"), "--key", try scene.path("\(name).key")]
        }
        #expect(try await status(try having("shop")) == "200")
        #expect(try await status(try having("shop") + ["--tls-max", "1.2"]) == "200")
        #expect(try await status(try having("other")) == "401")
        #expect(try await status([]) == "401")
        // 16 KiB are enough for a chain, and a connection holds what it was shown.
        let names = (0..<300).map { ",DNS:\(String(repeating: "a", count: 50))\($0).example.com" }.joined()
        try await scene.makeCertificate("large", withMoreNames: names)
        for version in ["1.2", "1.3"] {
            #expect(try await status(try having("large") + ["--tls-max", version]) == "000")
        }
        let pem = try String(contentsOfFile: try scene.path("shop.pem"), encoding: .utf8)
        let base64 = pem.split(separator: "\n").filter { !$0.hasPrefix("-") }.joined()
        let forged = ["-H", "Client-Cert: :\(base64):"]
        #expect(try await status(forged) == "401")
        #expect(try await status(try having("other") + forged) == "401")
        server.send(SIGTERM)
        #expect(try await server.result().status == 0)
    }

    @Test("A certificate that is no good keeps the one there was, and the log says why")
    func brokenReload() async throws {
        let scene = try Scene()
        for name in ["one", "two"] { try await scene.makeCertificate(name) }
        try scene.install("one")
        let (server, url) = try await scene.start()
        try FileManager.default.removeItem(atPath: scene.path("server.key"))
        try FileManager.default.copyItem(atPath: scene.path("two.key"), toPath: scene.path("server.key"))
        server.send(SIGHUP)
        while try !server.errors.contains("error certificate not changed") {
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(try server.errors.contains("is not the key of the certificate in"))
        #expect(try await scene.get("\(url)/readyz", trusting: "one") == "200")
        // Mended, it is taken.
        try scene.install("two")
        while try await scene.shown(url) != "two" { try await Task.sleep(for: .milliseconds(20)) }
        server.send(SIGTERM)
        #expect(try await server.result().status == 0)
    }

    @Test(
        "Files that are no certificate and key are refused at the start and by `config check`, and named",
        arguments: ["certificate", "key", "swapped", "other", "missing"])
    func unusable(_ harm: String) async throws {
        let scene = try Scene()
        for name in ["one", "two"] { try await scene.makeCertificate(name) }
        var (certificate, key) = (try scene.path("one.pem"), try scene.path("one.key"))
        var named = certificate
        switch harm {
        case "certificate": try Data("hello\n".utf8).write(to: URL(filePath: certificate))
        case "key":
            try Data("hello\n".utf8).write(to: URL(filePath: key))
            named = key
        case "swapped":
            (certificate, key) = (key, certificate)
            named = certificate
        case "other":
            key = try scene.path("two.key")
            named = key
        default: try FileManager.default.removeItem(atPath: certificate)
        }
        for command in [["serve", "--port", "0"], ["config", "check"]] {
            let refused = try await Tool.run(
                command + ["--data", scene.path("data"), "--tls-certificate", certificate, "--tls-key", key])
            #expect(refused.status == 1)
            #expect(refused.errors.hasPrefix(named), "\(refused.errors)")
        }
    }
}
