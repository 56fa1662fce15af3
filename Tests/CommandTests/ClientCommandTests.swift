import Encodings
import Foundation
import TestSupport
import Testing

@Suite("countersign client: made, changed, and given a new secret for callbacks", .timeLimit(.minutes(15)))
struct ClientCommandTests {
    @Test("What is named changes, what is not stays; the password comes from a variable and is never shown")
    func update() async throws {
        try await ServedTool.with { tool in
            let made = try await tool.json(
                "client", "create", "--name", "ACME Shop", "--callback", "https://shop.example.com/hook")
            let id = try #require(made["client_id"]?.string)
            let password = ["COUNTERSIGN_CALLBACK_PASSWORD": "open sesame"]
            let changed = try await tool.run(
                "client", "update", id, "--name", "ACME Bank", "--callback-username", "acme", "--json",
                setting: password)
            #expect(changed.status == 0 && !changed.output.contains("sesame"))
            let client = try changed.json()
            #expect(client["name"] == "ACME Bank")
            #expect(client["callback_uris"] == ["https://shop.example.com/hook"])
            #expect(client["callback_username"] == "acme")
            let without = try await tool.json(
                "client", "update", id, "--no-callback", "--no-callback-basic", "--right", "challenges",
                "--waive-enrollment-approval")
            #expect(without["callback_uris"] == [] && without["callback_username"] == nil)
            #expect(without["rights"] == ["challenges"] && without["waive_enrollment_approval"] == true)
            let list = try await tool.run("client", "list")
            #expect(list.output.contains("\(id)  ACME Bank\n"))
            let refused = try await tool.run("client", "update", id, "--callback-username", "acme")
            #expect(refused.status == 2)
            #expect(refused.errors.contains("--callback-username needs the password in the variable"))
            let unknown = try await tool.run("client", "update", "cli_none", "--name", "x")
            #expect(unknown.errors.hasPrefix("There is no such client\n"))
        }
    }

    @Test("Another product's calls are switched on and off, and what is none is refused by the server")
    func vendors() async throws {
        try await ServedTool.with { tool in
            let made = try await tool.json("client", "create", "--name", "Portal", "--vendor", "onewelcome")
            let id = try #require(made["client_id"]?.string)
            #expect(made["vendors"] == ["onewelcome"])
            let two = try await tool.json("client", "set", id, "--vendor", "okta", "--vendor", "cotter")
            #expect(two["vendors"] == ["cotter", "okta"] && two["rights"] == made["rights"])
            #expect(try await tool.json("client", "set", id, "--name", "Portal 2")["vendors"] == ["cotter", "okta"])
            #expect(try await tool.run("client", "list").output.contains("also makes the calls of cotter, okta\n"))
            #expect(try await tool.json("client", "update", id, "--no-vendor")["vendors"] == nil)
            let refused = try await tool.run("client", "set", id, "--vendor", "duo")
            #expect(refused.status != 0 && refused.errors.contains("vendors"))
        }
    }

    @Test("A new secret for callbacks is shown with the time until which the earlier one signs")
    func renew() async throws {
        try await ServedTool.with { tool in
            let made = try await tool.json("client", "create", "--name", "ACME Shop")
            let id = try #require(made["client_id"]?.string)
            let renewed = try await tool.json("client", "renew-callback-secret", id, "--overlap", "60")
            #expect(renewed["callback_secret"]?.string?.hasPrefix("whsec_") == true)
            #expect(renewed["callback_secret"] != made["callback_secret"])
            #expect(renewed["earlier_until"]?.string?.isEmpty == false)
            let shown = try await tool.run("client", "renew-callback-secret", id)
            #expect(shown.output.contains("The earlier ones sign beside them until 20"))
        }
    }

    @Test("A client's keys come from a file, or from where it publishes them, and not from both")
    func keys() async throws {
        try await ServedTool.with { tool in
            let made = try await tool.json("client", "create", "--name", "ACME Shop")
            let id = try #require(made["client_id"]?.string)
            // A key of RFC 7517 A.1.
            let key: JSONValue = [
                "kty": "EC", "crv": "P-256", "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
                "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM", "kid": "1",
            ]
            let file = tool.folder.path("keys.json")
            let set: JSONValue = ["keys": [key]]
            try Data(set.encoded).write(to: URL(filePath: file))
            let uri = "https://acme.example/keys"
            let page = "https://acme.example/callback"
            let read = try await tool.run(
                "client", "openid", "set", id, "--profile", "web", "--redirect-uri", page, "--jwks", file)
            #expect(read.status == 0 && read.output.contains("\nauthenticates by its keys\n"), "\(read.errors)")
            let published = try await tool.run(
                "client", "openid", "set", id, "--profile", "web", "--redirect-uri", page, "--jwks-uri", uri)
            #expect(published.status == 0 && published.output.contains("\nauthenticates by its keys at \(uri)\n"))
            let both = try await tool.run(
                "client", "openid", "set", id, "--profile", "web", "--redirect-uri", page, "--jwks", file, "--jwks-uri",
                uri)
            #expect(
                both.status == 1 && both.errors.contains("--jwks-uri must be nothing, beside --jwks"), "\(both.errors)")
            #expect(try await tool.run("client", "openid", "show", id).output == published.output)
            let strict = try await tool.run(
                "client", "openid", "set", id, "--profile", "web", "--redirect-uri", page, "--jwks", file,
                "--require-par", "--require-signed-requests")
            #expect(strict.output.contains("\nmust push its requests\nmust sign its requests\n"), "\(strict.errors)")
            let certified = try await tool.run(
                "client", "openid", "set", id, "--profile", "web", "--redirect-uri", page,
                "--tls-client-auth-subject-dn", "CN=shop, C=DE", "--certificate-bound-access-tokens")
            #expect(
                certified.output.contains(
                    "\nauthenticates by a certificate for CN=shop, C=DE\nhas all tokens bound to its certificate"),
                "\(certified)")
            for name in ["dns", "uri", "ip", "email"] {
                let named = try await tool.json(
                    "client", "openid", "set", id, "--profile", "web", "--redirect-uri", page,
                    "--tls-client-auth-san-\(name)", "192.0.2.1")
                #expect(named["tls_client_auth_san_\(name)"] == "192.0.2.1", "\(named)")
            }
            let signed = try await tool.run(
                "client", "openid", "set", id, "--profile", "web", "--redirect-uri", page, "--id-token-alg", "ES256")
            #expect(signed.output.hasSuffix("\ngets ID tokens signed by ES256\n"), "\(signed)")
            let unreadable = try await tool.run(
                "client", "openid", "set", id, "--profile", "web", "--redirect-uri", page,
                "--self-signed-certificate", file)
            #expect(unreadable.status == 1 && unreadable.errors.contains("\(file) cannot be read as a certificate"))
            let keyless = try await tool.run(
                "client", "openid", "set", id, "--profile", "web", "--redirect-uri", page, "--require-signed-requests")
            #expect(keyless.status == 1 && keyless.errors.contains("false without --jwks or --jwks-uri"))
        }
    }

    @Test("The pages of a client get a logo from a file and colours, and lose them; what is wrong is said")
    func look() async throws {
        try await ServedTool.with { tool in
            let id = try #require(try await tool.json("client", "create", "--name", "ACME")["client_id"]?.string)
            let early = try await tool.run("client", "openid", "look", "set", id, "--accent", "#8a1538")
            #expect(early.status == 1 && early.errors.hasPrefix("There is no such client\n"))
            _ = try await tool.json(
                "client", "openid", "set", id, "--profile", "web", "--redirect-uri", "https://acme.example/callback")
            let file = tool.folder.path("logo.png")
            try Data(PNGFile.picture(width: 120, height: 44)).write(to: URL(filePath: file))
            let set = try await tool.run(
                "client", "openid", "look", "set", id, "--logo", file, "--accent", "#8a1538", "--accent-dark", "#ffb3c4"
            )
            #expect(set.status == 0 && set.output.hasPrefix("\(id):\nlogo of 120 by 44 pixels, at /assets/logos/"))
            #expect(set.output.hasSuffix("\ncolour #8a1538, in the dark #ffb3c4\n"))
            #expect(try await tool.run("client", "openid", "look", "show", id).output == set.output)
            let pale = try await tool.run("client", "openid", "look", "set", id, "--accent", "#bbbbbb")
            #expect(pale.status == 1 && pale.errors.contains("/accent/light: 1.73:1 on #f1f4f5; at least 4.5:1"))
            for wrong in [[], ["--accent-dark", "#ffb3c4"]] {
                #expect(try await Tool.run(["client", "openid", "look", "set", id] + wrong).status == 2)
            }
            let nothing = try await tool.run("client", "openid", "look", "set", id, "--logo", "\(file).none")
            #expect(nothing.status == 1 && nothing.errors.contains("cannot be read"))
            #expect(try await tool.run("client", "openid", "look", "remove", id).status == 0)
            let shown = try await tool.run("client", "openid", "look", "show", id)
            #expect(shown.output == "\(id):\nthe pages' own look\n")
        }
    }
}
