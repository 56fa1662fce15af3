import CountersignCore
import CountersignServer
import CountersignStorage
import CountersignWire
import Crypto
import Encodings
import Foundation
import TestSupport

/// Finds the secrets in requests and replies.
extension ServerWatch {
    private static let clients = Audience.replies(on: "POST /v1/admin/clients")
    private static let callbackSecrets = Audience.replies(on: "/callback-secret")
    private static let tokens = Audience.replies(on: "/token")
    private static let tickets = Audience.replies(on: "/enrollment-tickets")

    /// Adds the secrets in a data folder: the master key, the bootstrap token and the issuer's private keys.
    func plant(dataFolder: String, database: DatabaseChoice, issuer: Issuer, clock: TestClock) async throws {
        func text(of file: String) throws -> String {
            try String(contentsOfFile: "\(dataFolder)/\(file)", encoding: .utf8)
                .trimmingCharacters(in: .whitespacesAndNewlines)
        }
        plant(try text(of: "bootstrap.token"), "the bootstrap token")
        let masterKey = try text(of: "master.key")
        plant(masterKey, "the master key")
        guard let key = Base64.decode(masterKey).flatMap({ MasterKey(bytes: Secret($0)) }) else {
            throw Leak(description: "the master key cannot be read")
        }
        let store: SQLStore
        switch database {
        case .sqlite:
            store = try await SQLStore(
                sqlite: "\(dataFolder)/countersign.sqlite", hub: ChangeHub(time: clock), masterKey: key, issuer: issuer)
        case .postgresql(let settings):
            store = try await SQLStore.open(
                settings, hub: ChangeHub(time: clock), issuer: issuer, logger: book.logger, masterKey: { _ in key },
                prepare: { _ in }
            ).store
        }
        let material = try await store.read { try $0.keys.issuerKeys() }
        plant(Array(material.primary.rawRepresentation), "the issuer's primary key")
        for key in material.kept { plant(key.secret.reveal(), "the issuer's key \(key.use.rawValue)") }
        for purpose in ["seal", "keyed hashes"] {
            plant(store.dataKey.derived(for: purpose).withUnsafeBytes { Array($0) }, "the key for \(purpose)")
        }
    }

    /// Records a request and its reply.
    ///
    /// - Parameters:
    ///   - method: the method, in upper case.
    ///   - path: the path and the query.
    ///   - request: the header fields and the body of the request.
    ///   - reply: the status, the header fields and the body of the reply.
    package func note(
        _ method: String, _ path: String, request: (headers: [(String, String)], body: [UInt8]?),
        reply: (status: Int, headers: [String: String], body: [UInt8])
    ) {
        for (name, value) in request.headers { plant(header: name.lowercased(), value) }
        let route = "\(method) \(path.prefix { $0 != "?" })"
        if let body = request.body.flatMap({ try? JSONValue(parsing: $0) }) { plant(request: body, on: route) }
        if let body = try? JSONValue(parsing: reply.body) { plant(reply: body, on: route) }
        let fields = reply.headers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)\n" }.joined()
        note(route, "\(method) \(path): \(reply.status)", Array(fields.utf8) + reply.body)
    }

    private func plant(header name: String, _ value: String) {
        switch name {
        case "authorization":
            // The reply that contained the whole secret contains parts of it too, and ids are in many replies.
            let credentials = value.split(separator: " ", maxSplits: 1).last.map(String.init) ?? ""
            // An access token, which only the reply that gave it contains.
            guard credentials.count(where: { $0 == "." }) != 2 else {
                plant(credentials, "the access token of a request", for: Self.tokens)
                return
            }
            guard let decoded = Base64.decode(credentials).flatMap({ String(strictUTF8: $0) }) else {
                plant(credentials, "the credentials of a request", for: Self.clients)
                return
            }
            plant(verbatim: credentials, "the credentials of a request", for: Self.clients)
            let secret = decoded.split(separator: ":", maxSplits: 1).dropFirst().first ?? ""
            plant(String(secret), "the secret of a request", for: Self.clients)
        case "api_secret_key":
            plant(value, "the API_SECRET_KEY of a request")
        case "signature":
            plant(verbatim: value, "the signature of a request", for: .anyReply)
        default: return
        }
    }

    private func plant(request body: JSONValue, on route: String) {
        plant(body["ticket"]?.string ?? "", "the ticket of a request", for: Self.tickets)
        plant(body["callback_basic"]?["password"]?.string ?? "", "the password of callbacks", for: .anyReply)
        if route == "POST /v1/challenges" {
            plant(body["phone"]?.string ?? "", "a telephone number", for: .replies(on: "/dev/outbox"))
            for name in ["message", "secure_message", "signing_data"] {
                plant(body[name]?.string ?? "", "the \(name) of a challenge", for: .anyReply)
            }
            for detail in body["details"]?.array ?? [] {
                plant(detail["value"]?.string ?? "", "a detail of a challenge", for: .anyReply)
            }
        }
        if route.hasSuffix("/answer") {
            plant(verbatim: body["message"]?.string ?? "", "a device's answer", for: .anyReply)
        }
    }

    /// The code behind `#` in a link of any issuer.
    private static func code(inLink text: String) -> ChallengeCode? {
        let parts = text.components(separatedBy: "/q#")
        return Issuer(parts[0]).flatMap { ChallengeCode(link: text, to: $0) }
    }

    private func plant(reply body: JSONValue, on route: String) {
        if route == "POST /v1/challenges", let number = body["number"]?.string { plant(number: number) }
        plant(
            body["client_secret"]?.string ?? "", "a client's secret",
            for: route.hasSuffix("/secret") ? .replies(on: "/secret") : Self.clients)
        plant(
            body["callback_secret"]?.string ?? "", "the secret of a client's callbacks",
            for: route.hasSuffix("/callback-secret") ? Self.callbackSecrets : Self.clients)
        for name in ["notice_secret", "hook_secret"] {
            plant(
                body[name]?.string ?? "", "the \(name) of a client",
                for: route.hasSuffix("/callback-secret") ? Self.callbackSecrets : Self.clients)
        }
        let code = body["code"] ?? body
        for text in [code["qr"]?.string, code["link"]?.string].compactMap({ $0 }) {
            guard let code = ChallengeCode(text) ?? Self.code(inLink: text) else { continue }
            // Each code appears in one reply: to the request that asks, or to a request for another code.
            let told = Audience.replies(on: route.hasSuffix("/code") ? "/code" : "POST /v1/challenges")
            plant(code.otp.reveal(), "the one-time password of a code", for: told)
            plant(text, "the code of a challenge", for: told)
        }
        guard route.hasSuffix("/enrollment-tickets") else { return }
        plant(body["ticket"]?.string ?? "", "a ticket", for: Self.tickets)
        plant(body["qr"]?.string ?? "", "the code of a ticket", for: Self.tickets)
    }
}
