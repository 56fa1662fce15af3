import CountersignCore
import CountersignDelivery
import CountersignWire
import Encodings
import Foundation
import StorageTestSupport
import TestSupport
import Testing

@Suite(
    "SMTP to a real server", .enabled(if: SMTPPeerProcess.isPresent, "\(SMTPPeerProcess.absence)"),
    .timeLimit(.minutes(15)))
struct MailTests {
    private static let credentials = (user: "countersign", password: MailScene.password)

    @Test(
        "RFC 5321 §3.3, RFC 3207 §4, RFC 8314 §3.3, RFC 4954 §4: a mail arrives, over each kind of way and with each kind of greeting",
        arguments: ["none", "starttls", "implicit"], [false, true])
    func arrives(security: String, signsIn: Bool) async throws {
        let rules = SMTPPeerProcess.Rules(security: security, credentials: signsIn ? Self.credentials : nil)
        try await MailScene.with(rules) { scene in
            let id = try await scene.queue()
            let row = try await scene.deliver(id)
            #expect(row.state == "delivered" && !row.hasPayload)
            let mail = try await scene.peer.arrival()
            #expect(mail["from"]?.string == "login@mail.example.com")
            #expect(mail["to"]?.array == ["someone.to.write@example.org"])
            #expect(mail["name"]?.string == "mail.example.com")
            #expect(mail["tls"]?.bool == (security != "none"))
            #expect(mail["user"]?.string == (signsIn ? "countersign" : nil))
        }
    }

    @Test("RFC 5322 §3.3 and §3.6, RFC 2045 §6.8, RFC 2046 §4.1.1 and §5.1.4, RFC 3834 §5: a reader finds no defect")
    func message() async throws {
        try await MailScene.with { scene in
            let id = try await scene.queue()
            _ = try await scene.deliver(id)
            let mail = try await scene.peer.arrival()
            #expect(mail["defects"]?.array?.isEmpty == true)
            let headers = try #require(mail["headers"]?.object)
            #expect(headers["subject"]?.string == "Your code for ACME")
            #expect(headers["from"]?.string == "ACME <login@mail.example.com>")
            #expect(headers["to"]?.string == "someone.to.write@example.org")
            #expect(headers["message-id"]?.string == "<\(id)@mail.example.com>")
            #expect(headers["auto-submitted"]?.string == "auto-generated")
            #expect(headers["content-language"]?.string == "en")
            #expect(headers["mime-version"]?.string == "1.0")
            #expect(mail["date"]?.integer == scene.delivery.world.time.now.seconds)
            #expect(mail["type"]?.string == "multipart/alternative")
            let parts = try #require(mail["parts"]?.array)
            #expect(parts.map { $0["type"]?.string } == ["text/plain", "text/html"])
            #expect(parts[0]["text"]?.string?.hasPrefix("004711\r\n") == true)
            #expect(parts[1]["text"]?.string?.contains("<strong>004711</strong>") == true)
        }
    }

    @Test(
        "RFC 2047 §2 and §5, RFC 5322 §2.1.1 and §3.2.5: any sender and subject come through as they are, in lines of 78 characters",
        arguments: [
            "ACME", "A \"quoted\" \\ name", "Müller & Söhne", "=?utf-8?Q?no?=", "例え株式会社",
            String(repeating: "long ", count: 12) + "name", String(repeating: "ü", count: 64),
            "👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦", "semicolon; comma, <angle> @ at",
        ])
    func names(sender: String) async throws {
        try await MailScene.with(sender: sender) { scene in
            let id = try await scene.queue(.test(in: LanguageTag("de")))
            _ = try await scene.deliver(id)
            let mail = try await scene.peer.arrival()
            #expect(mail["defects"]?.array?.isEmpty == true)
            #expect(mail["sender"]?.string == sender)
            #expect(mail["headers"]?["subject"]?.string == "Eine Nachricht von \(sender)")
            #expect(mail["parts"]?.array?[0]["text"]?.string?.contains("dass E-Mails von") == true)
            let bytes = try #require(mail["bytes"]?.string.flatMap { Base64.decode($0) })
            let lines = String(decoding: bytes, as: UTF8.self).components(separatedBy: "\r\n")
            #expect(lines.allSatisfy { $0.utf8.count <= 78 && $0.utf8.allSatisfy { (0x20..<0x7F).contains($0) } })
        }
    }

    @Test(
        "RFC 6531 §3.1, RFC 5321 §4.1.1.1: an international address is used where the server offers it, and refused where it does not"
    )
    func international() async throws {
        let address = "用户@bücher.example"
        try await MailScene.with(.init(offersSMTPUTF8: true)) { scene in
            let id = try await scene.queue(to: address)
            #expect(try await scene.deliver(id).state == "delivered")
            let mail = try await scene.peer.arrival()
            #expect(mail["to"]?.array == ["用户@xn--bcher-kva.example"])
            #expect(mail["options"]?.array?.contains("SMTPUTF8") == true)
        }
        try await MailScene.with { scene in
            let id = try await scene.queue(to: address)
            let row = try await scene.deliver(id)
            #expect(row.state == "dead")
            #expect(row.error == "the mail server does not take international addresses (SMTPUTF8)")
            // An international domain alone needs nothing of the server.
            let other = try await scene.queue(to: "info@bücher.example")
            #expect(try await scene.deliver(other).state == "delivered")
            #expect(try await scene.peer.arrival()["to"]?.array == ["info@xn--bcher-kva.example"])
        }
    }

    @Test(
        "RFC 5321 §4.2.1, RFC 3463 §2: 5yz is for good, 4yz for a while; what the server says besides its codes is not repeated"
    )
    func refusals() async throws {
        try await MailScene.with { scene in
            for (command, reply, state, error) in [
                ("rcpt", "550 5.1.1 <someone.to.write@example.org> is not here", "dead", "550 5.1.1"),
                ("data", "554 5.7.1 spam", "dead", "554 5.7.1"), ("rcpt", "450 4.2.1 later", "waiting", "450 4.2.1"),
                ("data", "451 no", "waiting", "451"), ("data", "552 5.2.2 full", "dead", "552 5.2.2"),
            ] {
                try await scene.peer.answer(command, with: reply)
                let id = try await scene.queue()
                let row = try await scene.deliver(id)
                #expect(row.state == state && row.error == "the mail server answered \(error)", "\(row)")
                try await scene.peer.answer(command, with: nil)
                // Given up or not, it is out of the way of the next.
                scene.delivery.world.time.advance(seconds: 601)
            }
        }
    }

    @Test(
        "RFC 3207 §4.1, RFC 4954 §6: without TLS, the right certificate or password nothing is sent, and it is tried again"
    )
    func notLetIn() async throws {
        func expect(
            _ words: String, _ rules: SMTPPeerProcess.Rules, _ adjust: (inout SMTPSettings) -> Void,
            sourceLocation: SourceLocation = #_sourceLocation
        ) async throws {
            try await MailScene.with(rules, adjust: adjust) { scene in
                let row = try await scene.deliver(try await scene.queue())
                #expect(row.state == "waiting" && row.error == words, "\(row)", sourceLocation: sourceLocation)
            }
        }
        try await expect("the mail server: Requested SSL level failed", .init()) { $0.security = .starttls }
        try await expect(
            "the mail server: SSL peer certificate or SSH remote key was not OK", .init(security: "implicit")
        ) { $0.authorities = nil }
        try await expect(
            "the mail server answered 535 5.7.8: the name or password is refused",
            .init(security: "starttls", credentials: Self.credentials)
        ) { $0.credentials = .init(username: "countersign", password: Secret("wrong")) }
        try await expect(
            "the mail server answered 530 5.7.0", .init(security: "starttls", credentials: Self.credentials)
        ) { $0.credentials = nil }
        try await expect("the mail server: Couldn't connect to server", .init()) { $0.port = 1 }
    }

    @Test("RFC 6409 §3.1, RFC 8314 §7.3, RFC 5321 §4.5.4.2: each way has its usual port")
    func ports() {
        #expect(SMTPSettings.Security.allCases.map(\.port) == [587, 465, 25])
    }

    @Test("A connection serves mail after mail; one that the server has closed is opened anew")
    func connections() async throws {
        try await MailScene.with { scene in
            var connections: [Int64] = []
            for _ in 0..<3 {
                #expect(try await scene.deliver(try await scene.queue()).state == "delivered")
                connections.append(try #require(try await scene.peer.arrival()["connection"]?.integer))
            }
            #expect(Set(connections).count == 1)
            // 421 ends the conversation. Spec: RFC 5321 §3.8.
            try await scene.peer.answer("data", with: "421 4.3.2 closing")
            let id = try await scene.queue()
            #expect(try await scene.deliver(id).error == "the mail server answered 421 4.3.2")
            try await scene.peer.answer("data", with: nil)
            scene.delivery.world.time.advance(seconds: 10)
            #expect(try await scene.deliver(id).state == "delivered")
        }
    }

    @Test("A mail server that hangs holds up neither callbacks nor a stop, and what waited arrives once it goes on")
    func hangs() async throws {
        try await MailScene.with { scene in
            try await Receiver.with({ _ in .status(204) }) { _, base in
                let delivery = scene.delivery
                // It knows the connection, and then answers nothing.
                #expect(try await scene.deliver(try await scene.queue()).state == "delivered")
                _ = try await scene.peer.arrival()
                scene.peer.hold()
                var mails: [EventID] = []
                for _ in 0..<12 { mails.append(try await scene.queue()) }
                let start = ContinuousClock.now
                try await delivery.working(delivery.worker()) {
                    let callback = try await delivery.enqueue(to: base + "/hook")
                    try await delivery.until { try await delivery.row(callback).state == "delivered" }
                    try await Task.sleep(for: .milliseconds(300))
                }
                #expect(start.duration(to: .now) < .seconds(15))
                for id in mails { #expect(try await delivery.row(id).state == "waiting") }
                scene.peer.resume()
                // The leases of what was cut off run out.
                delivery.world.time.advance(seconds: 61)
                try await delivery.working(delivery.worker()) {
                    for id in mails { try await delivery.until { try await delivery.row(id).state == "delivered" } }
                }
            }
        }
    }
}
