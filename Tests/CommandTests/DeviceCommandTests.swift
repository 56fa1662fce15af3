import Encodings
import Foundation
import OpenPGP
import TestSupport
import Testing

@Suite("The whole story at a prompt: client, user, device, challenge, receipt", .timeLimit(.minutes(15)))
struct DeviceCommandTests {
    @Test("A client asks, a device approves, and the receipt verifies")
    func approval() async throws {
        try await ServedTool.with { tool in
            let shop = try await tool.furnish()
            let asked = try await tool.ask(as: shop)
            #expect(try await tool.json("challenge", "show", asked.id, as: shop)["state"] == "pending")
            let pending = try #require(try await tool.json("device", "pending")["challenges"]?.array)
            #expect(pending.map { $0["id"] } == [.string(asked.id)])
            #expect(pending[0]["client"] == "ACME Shop" && pending[0]["message"] == "Pay EUR 1,250.00?")
            let opened = try await tool.json("device", "open", asked.id)
            #expect(opened["details"] == [["label": "Payee", "value": "ACME GmbH"]])
            #expect(opened["number_length"] == 6)
            #expect(opened["signed"]?.array?.contains("detail: Payee = ACME GmbH") == true)
            let answered = try await tool.json("device", "answer", asked.id, "--approve", "--number", asked.number)
            #expect(answered["decision"] == "approved")
            let shown = try await tool.json("challenge", "show", asked.id, as: shop)
            #expect(shown["state"] == "approved" && shown["method"] == "confirm")
            #expect(try await tool.json("device", "pending")["challenges"] == [])

            let out = tool.folder.path("receipts of today")
            let files = try await tool.json("challenge", "receipt", asked.id, "--out", out, as: shop)
            #expect(files["receipt"] == .string("\(out)/receipt.asc"))
            let verified = try await tool.json(
                "verify", "--receipt", "\(out)/receipt.asc", "--certificate", "\(out)/certificate.asc")
            #expect(verified["verified"] == true && verified["decision"] == "approved")
            #expect(verified["challenge"] == .string(asked.id))
        }
    }

    @Test("A further device shows a number, the one that there is types it, and then it can be asked, too")
    func furtherDevice() async throws {
        try await ServedTool.with { tool in
            let shop = try await tool.furnish()
            let home = tool.folder.path("other")
            let ticket = try #require(try await tool.json("user", "ticket", "customer-1", as: shop)["qr"]?.string)
            let made = try await tool.json("device", "enroll", "--ticket", ticket, "--home", home)
            let number = try #require(made["approval"]?["number"]?.string)
            let waiting = try await tool.run("device", "status", "--home", home)
            #expect(waiting.output.contains(": waits to be approved, until "))
            #expect(try await tool.ask(as: shop).number != "")
            #expect(try await tool.json("device", "pending", "--home", home)["challenges"] == [])
            let pending = try await tool.json("device", "pending")["challenges"]?.array ?? []
            let id = try #require(pending.first { $0["type"] == "new-device" }?["id"]?.string)
            let opened = try await tool.json("device", "open", id)
            let fingerprint = made["fingerprint"]
            #expect(opened["details"]?.array?.last == .members(["label": "Fingerprint", "value": fingerprint]))
            _ = try await tool.json("device", "answer", id, "--approve", "--number", number)
            let active = try await tool.json("device", "status", "--home", home)
            #expect(active["enrollments"]?.array?.map { $0["state"] } == ["active"])
            // One more, which is denied, wipes itself.
            let third = tool.folder.path("third")
            let second = try #require(try await tool.json("user", "ticket", "customer-1", as: shop)["qr"]?.string)
            let printed = try await tool.run("device", "enroll", "--ticket", second, "--home", third)
            #expect(printed.output.contains("It waits to be approved: type "))
            let asked = try await tool.json("device", "pending", "--home", home)["challenges"]?.array ?? []
            let denied = try #require(asked.first { $0["type"] == "new-device" }?["id"]?.string)
            _ = try await tool.json("device", "answer", denied, "--deny", "--home", home)
            let gone = try await tool.run("device", "status", "--home", third)
            #expect(gone.status == 1 && gone.errors.contains("The server has removed this device's enrollment."))
            let nothing = try await tool.run("device", "status", "--home", third)
            #expect(nothing.errors.contains("There is no such enrollment on this device."))
            // A user who is blocked gets no ticket.
            let blocked = try await tool.run("user", "block", "customer-1", as: shop)
            #expect(blocked.output == "customer-1 may enroll no device.\n")
            let refused = try await tool.run("user", "ticket", "customer-1", as: shop)
            #expect(refused.status == 1 && refused.errors.contains("The user may enroll no device"))
            let ended = try await tool.json("user", "block", "customer-1", "--end", as: shop)
            #expect(ended["enrollment_blocked"] == nil)
        }
    }

    @Test("A page shows a code, a device scans it, and who started it learns who that was")
    func scanned() async throws {
        try await ServedTool.with { tool in
            let shop = try await tool.furnish()
            _ = try await tool.json("type", "set", "scan", "--qr", "--expires-in", "60")
            let asked = try await tool.json(
                "challenge", "ask", "--type", "scan", "--message", "Sign in to ACME?", as: shop)
            let id = try #require(asked["id"]?.string)
            #expect(asked["user"] == nil)
            let code = try #require(try await tool.json("challenge", "code", id, as: shop)["qr"]?.string)
            let printed = try await tool.run("challenge", "code", id, as: shop)
            #expect(printed.output.contains("countersign device scan ") && printed.output.contains("▀"))
            let file = tool.folder.path("code.svg")
            let written = try await tool.run("challenge", "code", id, "--svg", file, as: shop)
            #expect(written.output == "\(file)\n")
            #expect(String(decoding: try tool.folder.read("code.svg"), as: UTF8.self).hasPrefix("<svg "))
            let scanned = try await tool.json("device", "scan", code)
            #expect(scanned["id"] == .string(id) && scanned["claimed"] == true && scanned["number_length"] == nil)
            let shown = try await tool.run("device", "open", id)
            #expect(shown.output.contains("Go on only if you saw the code on a screen of your own"))
            let late = try await tool.run("challenge", "code", id, as: shop)
            #expect(late.status == 1 && late.errors.contains("A device has claimed the challenge"))
            _ = try await tool.json("device", "answer", id, "--approve")
            let ended = try await tool.json("challenge", "show", id, as: shop)
            #expect(ended["state"] == "approved" && ended["user"]?.string?.hasPrefix("usr_") == true)
            let again = try await tool.run("device", "scan", code)
            #expect(again.status == 1 && again.errors.contains("answered before"))
            let nonsense = try await tool.run("device", "scan", "x")
            #expect(nonsense.errors.contains("The code is refused (malformed)."))
            let types = try await tool.run("type", "list")
            #expect(types.output.contains("scan: confirm, no number entry, 60 s"))
            #expect(types.output.contains(", by code"))
        }
    }

    @Test("Two users have one device: --enrollment says whose PIN is set, who scans, and who leaves")
    func twoUsers() async throws {
        try await ServedTool.with { tool in
            let shop = try await tool.furnish()
            _ = try await tool.json("user", "create", "--external-id", "customer-2", as: shop)
            let ticket = try #require(try await tool.json("user", "ticket", "customer-2", as: shop)["qr"]?.string)
            let made = try await tool.json("device", "enroll", "--ticket", ticket)
            let listed = try await tool.json("device", "status")["enrollments"]?.array ?? []
            let ids = listed.compactMap { $0["enrollment"]?.string }
            #expect(ids.count == 2 && made["enrollment"]?.string == ids[1])
            let first = try #require(ids.first)
            let set = try await tool.run("device", "pin", "set", "--enrollment", first, input: "483927\n")
            #expect(set.status == 0)
            #expect(try await tool.json("device", "pin", "show", "--enrollment", first)["state"] == "set")
            #expect(try await tool.json("device", "pin", "show")["state"] == "none", "the newest has its own")
            let asked = try await tool.json(
                "challenge", "ask", "--type", "qr", "--message", "Sign in to ACME?", as: shop)
            let id = try #require(asked["id"]?.string)
            let code = try #require(asked["code"]?["qr"]?.string)
            _ = try await tool.json("device", "scan", code, "--enrollment", first)
            _ = try await tool.json("device", "answer", id, "--approve")
            let named = try await tool.json("user", "devices", "customer-1", as: shop)["enrollments"]?.array?.first
            #expect(named?["enrollment"]?.string == first)
            let ended = try await tool.json("challenge", "show", id, as: shop)
            #expect(ended["state"] == "approved" && ended["user"] == named?["user"])
            #expect(try await tool.json("device", "remove", "--enrollment", first)["removed"] == [.string(first)])
            let gone = try await tool.run("device", "pin", "show", "--enrollment", first)
            #expect(gone.status == 1 && gone.errors.contains("This device has no enrollment \(first)"))
            #expect(try await tool.json("device", "remove")["removed"] == [.string(ids[1])])
        }
    }

    @Test("A link is followed on the same device, and the code it brings back releases the approval")
    func followed() async throws {
        try await ServedTool.with { tool in
            let shop = try await tool.furnish()
            let client = try #require(shop.split(separator: ":").first)
            let back = "https://shop.example.com/back"
            let updated = try await tool.json("client", "update", "\(client)", "--return-to", back)
            #expect(updated["return_uris"] == [.string(back)])
            let asked = try await tool.json(
                "challenge", "ask", "--type", "qr", "--message", "Sign in to ACME?", "--return-to", back, as: shop)
            let id = try #require(asked["id"]?.string)
            let printed = try await tool.run("challenge", "code", id, as: shop)
            #expect(printed.output.contains("Follow it before ") && printed.output.contains("/q#"))
            let link = try #require(try await tool.json("challenge", "code", id, as: shop)["link"]?.string)
            let opened = try await tool.run("device", "scan", link)
            #expect(opened.output.contains("Go on only if you followed the link yourself"))
            let answered = try await tool.run("device", "answer", id, "--approve")
            let target = try #require(answered.output.split(separator: " ").last).trimmingCharacters(in: .newlines)
            #expect(answered.output.contains("Go back, within two minutes: \(back)?return_code="))
            #expect(try await tool.json("challenge", "show", id, as: shop)["state"] == "pending")
            let wrong = try await tool.run("challenge", "return", id, "x", as: shop)
            #expect(wrong.status == 1 && wrong.errors.contains("The return code is not valid"))
            let code = String(target.dropFirst("\(back)?return_code=".count))
            #expect(try await tool.json("challenge", "return", id, code, as: shop)["state"] == "approved")
            let none = try await tool.json("client", "update", "\(client)", "--no-return-to")
            #expect(none["return_uris"] == [])
        }
    }

    @Test("Where no device can answer a code goes to the telephone, and is typed where it was asked for")
    func texted() async throws {
        try await ServedTool.with { tool in
            let shop = try await tool.furnish()
            let client = try #require(shop.split(separator: ":").first.map(String.init))
            let sms = try await tool.run("type", "set", "sms", "--text-code", "--client", client)
            #expect(sms.output.hasPrefix("sms: a code by text message, no number entry, 300 s"))
            let puzzled = try await tool.run(
                "type", "set", "sms", "--text-code", "--client", client, "--captcha", "own")
            #expect(puzzled.status == 1)
            #expect(puzzled.errors.contains("/captcha must be the name of one of the server's captchas"))
            _ = try await tool.json("type", "set", "careful", "--method", "pin", "--fallback", "sms")
            let asked = try await tool.json(
                "challenge", "ask", "--user", "customer-1", "--type", "careful", "--message", "Sign in?",
                "--phone", "+15551234567", as: shop)
            let id = try #require(asked["id"]?.string)
            #expect(asked["type"] == "sms" && asked["methods"] == ["text_code"])
            var code: Substring?
            while code == nil {
                let folder = try? FileManager.default.contentsOfDirectory(atPath: "\(tool.data)/outbox")
                let file = folder?.first { $0.hasSuffix(".txt") }
                let text = file.flatMap {
                    try? String(contentsOfFile: "\(tool.data)/outbox/\($0)", encoding: .utf8)
                }
                code = text?.firstMatch(of: /([0-9]{6}) is your code/)?.output.1
                try await Task.sleep(for: .milliseconds(20))
            }
            let entered = try await tool.run("challenge", "enter", id, String(try #require(code)), as: shop)
            #expect(entered.output == "\(id): approved by text_code\n")
        }
    }

    @Test("A person can read what the commands print")
    func forPeople() async throws {
        try await ServedTool.with { tool in
            let shop = try await tool.furnish()
            let types = try await tool.run("type", "list")
            #expect(types.output.contains("payment: confirm, number entry, 180 s"))
            #expect(try await tool.run("client", "list").output.contains("ACME Shop"))
            let asked = try await tool.ask(as: shop)
            let pending = try await tool.run("device", "pending")
            #expect(pending.output == "\(asked.id)  ACME Shop: Pay EUR 1,250.00?\n")
            let opened = try await tool.run("device", "open", asked.id)
            #expect(opened.output.contains("ACME Shop asks:") && opened.output.contains("Payee: ACME GmbH"))
            #expect(!opened.output.contains(asked.number))
            let answered = try await tool.run("device", "answer", asked.id, "--deny")
            #expect(answered.output == "\(asked.id): denied.\n")
            let shown = try await tool.run("challenge", "show", asked.id, as: shop)
            #expect(shown.output == "\(asked.id): denied (declined)\n")
            #expect(try await tool.run("device", "pending").output == "Nothing is waiting.\n")
            let devices = try await tool.run("user", "devices", "customer-1", as: shop)
            #expect(devices.output.contains("active  Terminal phone"))
        }
    }

    @Test("The commands for a receipt work as they are printed, in a folder with a blank in its name")
    func printedCommands() async throws {
        let gpg = try #require(Program.path(of: "gpg"))
        #expect(!gpg.isEmpty)
        try await ServedTool.with { tool in
            let shop = try await tool.furnish()
            let asked = try await tool.ask(as: shop)
            _ = try await tool.json("device", "answer", asked.id, "--approve", "--number", asked.number)
            let printed = try await tool.run(
                "challenge", "receipt", asked.id, "--out", tool.folder.path("it's here"), as: shop)
            let commands = printed.output.split(separator: "\n")
                .filter { $0.hasPrefix("export ") || $0.hasPrefix("gpg ") }.joined(separator: " && ")
            #expect(commands.contains("gpg --verify"))
            let shell = try await RunningProgram.run(
                "/bin/sh", ["-c", "\(commands); status=$?; gpgconf --kill all; exit $status"],
                environment: ["TMPDIR": tool.folder.url.path])
            #expect(shell.status == 0, "\(shell.errors)")
            #expect(shell.errors.contains("Good signature"))
        }
    }

    @Test("Denials and reports are told apart, and --wait tells of them", arguments: ["--deny", "--report"])
    func waiting(_ answer: String) async throws {
        try await ServedTool.with { tool in
            let shop = try await tool.furnish()
            let watching = try tool.start("device", "watch", "--json")
            let asking = try tool.start(
                "challenge", "ask", "--user", "customer-1", "--type", "payment", "--message", "Pay?", "--wait", "60",
                "--json", as: shop)
            let pending = try JSONValue(parsing: Array(try #require(await watching.line()).utf8))
            let id = try #require(pending["id"]?.string)
            _ = try await tool.json("device", "answer", id, answer)
            let result = try await asking.result()
            #expect(result.status == 1)
            let told = try result.json()
            #expect(told["id"] == .string(id) && told["state"] == "denied")
            #expect(told["reason"] == (answer == "--deny" ? "declined" : "reported"))
            #expect(told["number"]?.string?.count == 6)
            watching.send(SIGTERM)
            _ = try await watching.result()
        }
    }

    @Test("With --push what is asked comes by push, what was asked before by asking, each once")
    func pushes() async throws {
        try await ServedTool.with { tool in
            let shop = try await tool.furnish()
            let before = try await tool.ask(as: shop)
            let watching = try tool.start("device", "watch", "--push", "--json")
            let first = try JSONValue(parsing: Array(try #require(await watching.line()).utf8))
            #expect(first["id"] == .string(before.id))
            let asked = try await tool.ask(as: shop)
            let pushed = try JSONValue(parsing: Array(try #require(await watching.line()).utf8))
            #expect(pushed["id"] == .string(asked.id))
            // The server's own word that it was the push.
            var push: JSONValue?
            while push?["state"] != "accepted" {
                let shown = try await tool.json("challenge", "show", asked.id, as: shop)
                push = shown["deliveries"]?.array?.first?["push"]
                try #require(push?["state"] != "failed", "\(shown)")
            }
            #expect(
                try await tool.json("challenge", "show", before.id, as: shop)["deliveries"]?.array?.first?["push"]
                    == nil)
            watching.send(SIGTERM)
            _ = try await watching.result()
        }
    }

    @Test("What did not arrive is listed at a prompt, sent again, and announced anew")
    func outbox() async throws {
        try await ServedTool.with { tool in
            let shop = try await tool.furnish()
            #expect(try await tool.run("admin", "outbox").output == "Nothing is dead.\n")
            // A phone that takes pushes and is then switched off.
            let watching = try tool.start("device", "watch", "--push", "--json")
            let first = try await tool.ask(as: shop)
            #expect(await watching.line(holding: first.id) != nil)
            watching.send(SIGKILL)
            _ = try await watching.result()
            let asked = try await tool.ask(as: shop)
            var waiting: [JSONValue] = []
            while waiting.first?["last_error"] == nil {
                waiting = try await tool.json("admin", "outbox", "list", "--waiting")["messages"]?.array ?? []
            }
            let id = try #require(waiting.first?["id"]?.string)
            #expect(waiting.first?["last_error"]?.string?.hasPrefix("the program: ") == true)
            #expect(try await tool.run("admin", "outbox", "list", "--waiting").output.contains("\(id)  push  tried "))
            let retried = try await tool.run("admin", "outbox", "retry", id)
            #expect(retried.output == "\(id) is sent now.\n")
            let resent = try await tool.json("challenge", "resend", asked.id, as: shop)
            #expect(resent["deliveries"]?[0]?["push"]?["state"] == "queued")
            let unknown = try await tool.run("admin", "outbox", "retry", "evt_00000000000000000000000000")
            #expect(unknown.status == 1 && unknown.errors.contains("There is no such message"))
        }
    }

    @Test("A person at `device watch` types the number, or says no", arguments: ["number", "n", "r"])
    func watching(_ answer: String) async throws {
        try await ServedTool.with { tool in
            let shop = try await tool.furnish()
            let watching = try tool.start("device", "watch")
            #expect(await watching.line(holding: "Waiting for challenges") != nil)
            let asked = try await tool.ask(as: shop)
            #expect(await watching.line(holding: "ACME Shop asks:") != nil)
            #expect(await watching.line(holding: "└") != nil)
            // What means nothing asks again; so does a bare yes where a number is needed.
            try watching.type("y")
            try watching.type("what?")
            try watching.type(answer == "number" ? asked.number : answer)
            let (word, state) =
                ["number": ("Approved.", "approved"), "n": ("Denied.", "denied")][answer]
                ?? ("Reported.", "denied")
            #expect(await watching.line(holding: word) != nil)
            #expect(try await tool.json("challenge", "show", asked.id, as: shop)["state"] == .string(state))
            watching.send(SIGINT)
            _ = try await watching.result()
        }
    }

    @Test("What is refused ends with 1, and says why")
    func refusals() async throws {
        try await ServedTool.with { tool in
            let shop = try await tool.furnish()
            let asked = try await tool.ask(as: shop)
            let wrong = asked.number == "000000" ? "000001" : "000000"
            func expectRefused(_ result: ProgramResult, _ text: String, sourceLocation: SourceLocation) {
                #expect(result.status == 1, "\(result.errors)", sourceLocation: sourceLocation)
                #expect(result.errors.contains(text), "\(result.errors)", sourceLocation: sourceLocation)
                #expect(result.output.isEmpty, sourceLocation: sourceLocation)
            }
            let nobody = "chl_00000000000000000000000000"
            expectRefused(
                try await tool.run("user", "ticket", "nobody", as: shop), "There is no such user",
                sourceLocation: #_sourceLocation)
            expectRefused(
                try await tool.run("user", "create", "--external-id", "customer-1", as: shop), "external id",
                sourceLocation: #_sourceLocation)
            expectRefused(
                try await tool.run("user", "create", as: "cst_wrong"), "The caller is not known",
                sourceLocation: #_sourceLocation)
            expectRefused(
                try await tool.run("client", "create", "--name", "x", "--confidential", as: shop), "may not do this",
                sourceLocation: #_sourceLocation)
            expectRefused(
                try await tool.run("challenge", "show", nobody, as: shop), "There is no such challenge",
                sourceLocation: #_sourceLocation)
            expectRefused(
                try await tool.run("challenge", "receipt", asked.id, as: shop), "has no receipt",
                sourceLocation: #_sourceLocation)
            expectRefused(
                try await tool.run("device", "open", nobody), "no such challenge", sourceLocation: #_sourceLocation)
            expectRefused(
                try await tool.run("device", "open", "x"), "no such challenge", sourceLocation: #_sourceLocation)
            expectRefused(
                try await tool.run("device", "answer", asked.id, "--approve"), "6 digits",
                sourceLocation: #_sourceLocation)
            expectRefused(
                try await tool.run("device", "enroll", "--ticket", "hello"), "The invitation is refused",
                sourceLocation: #_sourceLocation)
            expectRefused(
                try await tool.run("device", "answer", asked.id, "--approve", "--number", wrong), "not the one shown",
                sourceLocation: #_sourceLocation)
            expectRefused(
                try await tool.run("device", "answer", asked.id, "--deny"), "ended", sourceLocation: #_sourceLocation)
            expectRefused(
                try await tool.run("challenge", "cancel", asked.id, as: shop), "ended",
                sourceLocation: #_sourceLocation)
        }
    }

    @Test("A challenge that is taken back cannot be answered")
    func cancelled() async throws {
        try await ServedTool.with { tool in
            let shop = try await tool.furnish()
            let asked = try await tool.ask(as: shop)
            #expect(try await tool.json("challenge", "cancel", asked.id, as: shop)["state"] == "cancelled")
            let late = try await tool.run("device", "answer", asked.id, "--approve", "--number", asked.number)
            #expect(late.status == 1 && late.errors.contains("cancelled"))
        }
    }

    @Test(
        "What the terminal phone prints as signed is, byte for byte, what the receipt says",
        arguments: [
            "Pay EUR 1,250.00?", "Line one\n\nmessage:\ndecision: denied\nmethod: pin",
            "└───┘\nSigned with your answer:\n│ x │\n├───┤", "支払いを承認しますか\nשלם לחברת אקמה\nادفع الى الشركة",
            "- dashes\n-----BEGIN PGP SIGNATURE-----", "é ǅ ﷽ ☕ \u{1F1E9}\u{1F1EA}",
        ])
    func printed(_ message: String) async throws {
        try await ServedTool.with { tool in
            let shop = try await tool.furnish()
            let asked = try await tool.json(
                "challenge", "ask", "--user", "customer-1", "--type", "payment", "--message", "Look!",
                "--secure-message=\(message)", "--detail", "Payee=│ ACME = GmbH │", "--detail", "Amount=EUR 1,250.00",
                "--signing-data", "order\u{202E} 4711\nmessage:", as: shop)
            let id = try #require(asked["id"]?.string)
            let printed = try await tool.run("device", "open", id).output
            let answered = try await tool.run(
                "device", "answer", id, "--approve", "--number", try #require(asked["number"]?.string))
            #expect(answered.status == 0, "\(answered.errors)")
            // A person sees a frame; every line in it stands between the same two signs.
            let lines = printed.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            let middle = try #require(lines.firstIndex { $0.hasPrefix("├") && !$0.hasPrefix("│") })
            let end = try #require(lines.lastIndex { $0.hasPrefix("└") })
            let signed = try lines[(middle + 2)..<end].map { line in
                try #require(line.hasPrefix("│ ") && line.hasSuffix(" │"), "\(line)")
                // Each line is isolated, so that its direction is its own; no text may hold those two characters.
                let inner = line.dropFirst(2).dropLast(2).unicodeScalars.filter {
                    ![0x2068, 0x2069].contains($0.value)
                }
                return String(String(String.UnicodeScalarView(inner)).reversed().drop { $0 == " " }.reversed())
            }
            let out = tool.folder.path("out")
            _ = try await tool.json("challenge", "receipt", id, "--out", out, as: shop)
            let receipt = try CleartextMessage(
                parsing: String(contentsOfFile: "\(out)/receipt.asc", encoding: .utf8)
            ).text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            let start = try #require(receipt.firstIndex(of: "message:"))
            let chosen = ["decision: ", "method: ", "number: ", "answered: "]
            let fields = receipt[..<start].filter { line in !chosen.contains { line.hasPrefix($0) } }
            #expect(signed.map { Array($0.utf8) } == (fields + receipt[start...]).map { Array($0.utf8) })
            #expect(!printed.contains("\u{202E}"), "data that is not shown as it is does nothing to a terminal")
        }
    }

    @Test("A person at the terminal types a number, a wrong PIN, what is no PIN, and the right one")
    func pinAtTerminal() async throws {
        try await ServedTool.with { tool in
            let shop = try await tool.furnish()
            let set = try await tool.run("device", "pin", "set", input: "83517\n")
            #expect(set.output == "The PIN is set.\n" && set.errors.isEmpty)
            #expect(try await tool.run("device", "pin", "set").status == 2, "nothing to read")
            let watching = try tool.start("device", "watch")
            let asked = try await tool.json(
                "challenge", "ask", "--user", "customer-1", "--type", "pin", "--message", "Sign in?", as: shop)
            let id = try #require(asked["id"]?.string)
            _ = await watching.line(holding: "Sign in?")
            let number = try #require(asked["number"]?.string)
            for line in [number, "71538", "no PIN", "83517"] { try watching.type(line) }
            _ = await watching.line(holding: "The PIN is wrong; 4 attempts are left.")
            _ = await watching.line(holding: "A PIN has 4 to 32 digits.")
            _ = await watching.line(holding: "Approved.")
            let shown = try await tool.json("challenge", "show", id, as: shop)
            #expect(shown["state"] == "approved" && shown["method"] == "pin")
            watching.send(SIGTERM)
            let result = try await watching.result()
            #expect(!result.output.contains("83517") && !result.output.contains("71538"))
            let opened = try await tool.run("device", "answer", id, "--approve", "--method", "finger", input: "83517\n")
            #expect(opened.status == 2 && opened.errors.contains("confirm, biometric, pin or custom:NAME"))
        }
    }

    @Test("A ticket enrolls one device")
    func usedTicket() async throws {
        try await ServedTool.with { tool in
            _ = try await tool.json("user", "create", "--external-id", "x")
            let ticket = try await tool.run("user", "ticket", "x").output.trimmingCharacters(in: .newlines)
            _ = try await tool.json("device", "enroll", "--ticket", ticket, "--name", "My phone")
            let other = tool.folder.path("other phone")
            let second = try await tool.run("device", "enroll", "--ticket", ticket, "--home", other)
            #expect(second.status == 1 && second.errors.contains("ticket_used"))
            #expect(!second.errors.contains(ticket))
            let devices = try await tool.json("user", "devices", "x")
            #expect(devices["enrollments"]?[0]?["device"]?["name"] == "My phone")
        }
    }

    @Test("A device that removes itself is gone here and there", arguments: [true, false])
    func removal(_ byDevice: Bool) async throws {
        try await ServedTool.with { tool in
            let shop = try await tool.furnish()
            let list = try await tool.json("user", "devices", "customer-1", as: shop)
            let id = try #require(list["enrollments"]?[0]?["enrollment"]?.string)
            if byDevice {
                #expect(try await tool.json("device", "remove")["removed"] == [.string(id)])
            } else {
                _ = try await tool.json("user", "remove-device", "customer-1", id, as: shop)
                let told = try await tool.run("device", "pending")
                #expect(told.status == 1 && told.errors.contains("removed this device's enrollment"))
            }
            let after = try await tool.run("device", "pending")
            #expect(after.output == "Nothing is waiting.\n" || after.errors.contains("no such enrollment"))
            #expect(try await tool.run("device", "remove").status == 1)
            let left = try await tool.json("user", "devices", "customer-1", as: shop)
            #expect(left["enrollments"]?[0]?["state"] == "removed")
            // Its keys are gone from the disk.
            let vault = try FileManager.default.contentsOfDirectory(atPath: "\(tool.home)/vault")
            #expect(!vault.contains(id))
        }
    }

    @Test("Forgetting locally works without a server")
    func removalWithoutServer() async throws {
        try await ServedTool.with { tool in
            _ = try await tool.furnish()
            tool.server.send(SIGKILL)
            _ = try await tool.server.result()
            let remote = try await tool.run("device", "remove")
            #expect(remote.status == 3, "\(remote.errors)")
            #expect(try await tool.run("device", "pending").status == 3)
            #expect(try await tool.run("device", "remove", "--local").status == 0)
        }
    }

    @Test("A reader that goes away ends the tool quietly")
    func brokenPipe() async throws {
        let folder = try TemporaryFolder()
        let bash = try #require(Program.path(of: "bash"))
        let result = try await RunningProgram.run(
            bash, ["-c", "\"$TOOL\" --help | head -n 1; exit \"${PIPESTATUS[0]}\""],
            environment: ["TOOL": try Tool.path])
        #expect(result.status == 0 || result.status == 128 + SIGPIPE, "\(result.status)")
        #expect(result.errors.isEmpty, "\(result.errors)")
        // Once a server runs, the network library ignores the signal, so a lost reader shows as an error of writing.
        let demo = try await RunningProgram.run(
            bash, ["-c", "\"$TOOL\" demo --unattended --out \"$OUT\" | head -n 1; exit \"${PIPESTATUS[0]}\""],
            environment: ["TOOL": try Tool.path, "OUT": folder.path("out")])
        #expect(demo.output.split(separator: "\n").count == 1)
        #expect([0, 1, 128 + SIGPIPE].contains(demo.status), "\(demo.status): \(demo.errors)")
        #expect(!demo.errors.contains("Fatal error") && !demo.errors.contains("Crash"))
    }
}
