import AsyncHTTPClient
import Encodings
import NIOCore
import NIOHTTP1
import ServerTestSupport

/// The data of a relying party that its portals need.
struct Shop: Sendable {
    let clientID: String
    let authorization: String
    /// The operator's credentials, for ending the locks of users' reports.
    let administrator: String
    let callbackSecret: String
    let callbackURI: String
    /// The URL to which users return from their app.
    static let returnURI = "https://shop.example.com/back"
    /// The custom authenticator of every shop.
    static let phrase = "phrase"
}

/// Calls a server that may be killed at any moment, and repeats each call until there is a reply.
struct PersistentCaller: Sendable {
    let keeper: any Served
    let http: HTTPClient
    let ledger: Ledger

    /// A client that does not reconnect by itself and reports every lost connection.
    static func makeClient() -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        configuration.timeout.connect = .seconds(5)
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Sends a request until there is a reply.
    func call(
        _ method: HTTPMethod, _ path: String, _ body: [UInt8]? = nil, authorization: String, key: String? = nil
    ) async throws -> Reply {
        while true {
            try await keeper.ready()
            let key = key.map { [("Idempotency-Key", $0)] } ?? []
            let request = request(method, path, body, [("Authorization", authorization)] + key)
            let kind = Flights.Kind(sender: "portal", waits: path.contains("wait="))
            guard let reply = try? await keeper.flights.track(of: kind, { try await exchange(request, path) })
            else { continue }
            keeper.watch.note(
                method.rawValue, path, request: (headers: [("authorization", authorization)], body: body),
                reply: (status: reply.status, headers: reply.headers, body: reply.body))
            if reply.status == 503, keeper.mayBeUnavailable { continue }
            // A killed server does not answer, so a reply with a server error is a fault.
            if reply.status >= 500 { await ledger.violate("\(reply)") }
            return reply
        }
    }

    /// Sends a request once.
    func send(
        _ method: HTTPMethod, _ path: String, _ body: [UInt8]?, fields: [(String, String)]
    ) async throws -> Reply {
        try await exchange(request(method, path, body, fields), path)
    }

    private func request(
        _ method: HTTPMethod, _ path: String, _ body: [UInt8]?, _ fields: [(String, String)]
    ) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: keeper.url + path)
        request.method = method
        for (name, value) in fields { request.headers.add(name: name, value: value) }
        if let body {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(body)
        }
        return request
    }

    private func exchange(_ request: HTTPClientRequest, _ path: String) async throws -> Reply {
        let response = try await http.execute(request, timeout: .seconds(60))
        return Reply(
            method: request.method, path: path, status: Int(response.status.code),
            headers: Dictionary(response.headers.map { ($0.name.lowercased(), $0.value) }) { "\($0), \($1)" },
            body: Array(try await response.body.collect(upTo: 8 << 20).readableBytesView))
    }

    private func endLocks(for shop: Shop) async throws {
        let page = try await call(.GET, "/v1/admin/locks", authorization: shop.administrator).success()
        for lock in page["locks"]?.array ?? [] {
            let path = "/v1/admin/locks/\(lock["challenge"]?.string ?? "")"
            let reply = try await call(.DELETE, path, authorization: shop.administrator)
            // Another portal may have been faster, or the reply to an earlier attempt may be lost.
            if reply.status != 204, reply.code != "challenge_not_found" { await ledger.violate("\(reply)") }
        }
    }

    /// Creates a resource once, even if the request has to be repeated.
    func create(
        _ path: String, _ body: JSONValue, key: String, for shop: Shop
    ) async throws -> (JSONValue, Ledger.CreatingRequest) {
        var reply = try await call(.POST, path, body.encoded, authorization: shop.authorization, key: key)
        while reply.code == "asking_locked" {
            try await endLocks(for: shop)
            reply = try await call(.POST, path, body.encoded, authorization: shop.authorization, key: key)
        }
        let json = try reply.success()
        return (json, Ledger.CreatingRequest(path: path, body: body.encoded, key: key, reply: reply.body))
    }
}
