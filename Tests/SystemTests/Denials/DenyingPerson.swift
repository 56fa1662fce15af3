import Countersign
import CountersignWire
import Encodings
import Foundation
import NIOHTTP1
import ServerTestSupport
import Synchronization
import Testing

/// Somebody with a phone, who has signed in in their browser before.
struct DenyingPerson: Sendable {
    /// The client's own name for them.
    let name: String
    let user: String
    let browser: DenyingBrowser
    let transport: NotingTransport
    private let phone: Authenticator

    /// Enrolls a phone.
    init(
        _ name: String, user: String, ticket: String, issuer: String, browser: DenyingBrowser, phoneAt node: NodeCaller
    ) async throws {
        (self.name, self.user, self.browser) = (name, user, browser)
        transport = NotingTransport(to: node, issuer: issuer)
        phone = try await Authenticator(
            issuer: try #require(URL(string: issuer)),
            app: AppDescription(name: "Test app", version: "1", deviceName: "Test phone"), vault: MemoryVault(),
            transport: transport)
        _ = try await phone.enroll(with: .ticket(ticket))
    }

    /// The only thing that the phone is asked, as soon as it is.
    func question() async throws -> OpenedChallenge {
        while true {
            if let pending = try await phone.pendingChallenges().first { return try await pending.open() }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Signs in, so that the browser is known.
    func signIn(at client: String) async throws {
        let path = try await browser.ask(of: name, at: client)
        let page = try await browser.get(path)
        let number = try page.found(#/aria-label="([0-9 ,]+)"/#).filter(\.isNumber)
        try await question().approve(with: .confirmation, number: number)
        let done = try await browser.get("\(path)/done")
        try #require(done.status == 200, "\(done)")
    }
}

/// A browser behind a proxy that says from where it comes: the server takes 60 sign-ins a minute from one network.
final class DenyingBrowser: Sendable {
    static let redirectURI = "https://shop.example.com/callback"

    private let node: NodeCaller
    private let network: String
    private let cookies = Mutex<[String: String]>([:])

    init(_ number: Int, at node: NodeCaller) {
        self.node = node
        network = "10.0.\(number >> 8 & 255).\(number & 255)"
    }

    /// From the client's request to the page that waits for the phone; returns its path.
    func ask(of name: String, at client: String) async throws -> String {
        // Also as a code challenge, which is never redeemed.
        let random = Base64URL.encode((0..<32).map { _ in UInt8.random(in: 0...(.max)) })
        let request = FormText.encoded([
            ("client_id", client), ("redirect_uri", Self.redirectURI), ("response_type", "code"),
            ("scope", "openid"), ("state", random), ("nonce", random), ("code_challenge", random),
            ("code_challenge_method", "S256"), ("prompt", "login"), ("login_hint", "external_id:\(name)"),
        ])
        let choice = try await get("/oauth2/authorize?\(request)")
        let sealed = try choice.found(#/name="request" value="([^"]*)"/#)
        let form = FormText.encoded([("request", sealed), ("way", "device")])
        let asked = try await send(.POST, "/signin/ask", body: Array(form.utf8))
        try #require(asked.status == 303, "\(asked)")
        return try #require(asked.headers["location"])
    }

    func get(_ path: String) async throws -> Reply { try await send(.GET, path, body: nil) }

    private func send(_ method: HTTPMethod, _ path: String, body: [UInt8]?) async throws -> Reply {
        var fields = [("X-Forwarded-For", network)]
        let kept = cookies.withLock { $0.map { "\($0.key)=\($0.value)" }.sorted().joined(separator: "; ") }
        if !kept.isEmpty { fields.append(("Cookie", kept)) }
        if body != nil { fields.append(("Content-Type", "application/x-www-form-urlencoded")) }
        let reply = try await node.send(method, path, fields: fields, body: body)
        // Several stand in one line here, and no cookie of ours has a comma.
        for set in reply.headers["set-cookie"]?.split(separator: ", ") ?? [] {
            let pair = set.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1).map(String.init)
            let value = set.contains("Max-Age=0") ? nil : pair.last
            cookies.withLock { $0[pair[0]] = value }
        }
        return reply
    }
}

extension Reply {
    /// What a page has at this place.
    fileprivate func found(_ pattern: Regex<(Substring, Substring)>) throws -> String {
        let match = try #require(String(decoding: body, as: UTF8.self).firstMatch(of: pattern), "\(self)")
        return String(match.output.1)
    }
}
