import AsyncHTTPClient
package import CountersignServer
package import CountersignWire
package import Encodings
import Foundation
package import Logging
package import NIOHTTP1
import NIOCore
import StorageTestSupport
import TestSupport

/// A real server on a free local port, with a new database and an adjustable clock.
package struct TestServer: Sendable {
    /// The server's public URL, without a slash at the end.
    package let issuer: Issuer
    /// The URL for connections, which differs from the issuer only if a test sets another issuer.
    let address: Issuer
    package let clock: TestClock
    /// The operator's bootstrap token.
    package let token: String
    package let dataFolder: String
    /// Knows the server's secrets and searches its log and replies.
    package let watch: ServerWatch
    package let routes: [RegisteredRoute]

    /// Runs a body while a new server runs; the server stops afterwards, even if the body throws.
    package static func with<Result: Sendable>(
        _ body: @escaping @Sendable (TestServer) async throws -> Result
    ) async throws -> Result {
        let folder = try TemporaryFolder()
        return try await with(dataFolder: folder.path("data"), body)
    }

    /// Runs a body while a server runs with the data of a folder.
    ///
    /// - Parameters:
    ///   - dataFolder: the folder.
    ///   - port: the port; 0 for a free one.
    ///   - logger: another logger that gets the log.
    ///   - settings: changes the settings.
    ///   - server: makes the server; the usual one by default.
    ///   - body: the body to run.
    package static func with<Result: Sendable>(
        dataFolder: String, port: Int = 0, logger: Logger? = nil,
        settings: @Sendable (inout ServerSettings) -> Void = { _ in },
        server: @Sendable (ServerSettings, Logger, TestClock) async throws -> Server = usual,
        _ body: @escaping @Sendable (TestServer) async throws -> Result
    ) async throws -> Result {
        try await Turnstile.pass {
            try await serving(dataFolder: dataFolder, port: port, logger, settings, server, body)
        }
    }

    /// Makes the server as the program does, except that the first RSA key of each is the same.
    package static let usual: @Sendable (ServerSettings, Logger, TestClock) async throws -> Server = {
        try await Server(
            $0, environment: [:], logger: $1, time: $2, rsaKeys: FirstRSAKeys(of: $0.dataFolder))
    }

    private static func serving<Result: Sendable>(
        dataFolder: String, port: Int, _ logger: Logger?, _ change: (inout ServerSettings) -> Void,
        _ make: (ServerSettings, Logger, TestClock) async throws -> Server,
        _ body: @escaping @Sendable (TestServer) async throws -> Result
    ) async throws -> Result {
        let clock = TestClock()
        let watch = ServerWatch()
        var settings = ServerSettings(dataFolder: dataFolder, port: port == 0 ? FreePort.next() : port)
        settings.database = try await TestDatabases.choice(for: dataFolder)
        change(&settings)
        let server = try await make(settings, watch.logger(besides: logger), clock)
        let token =
            try server.bootstrapToken?.reveal()
            ?? String(contentsOfFile: "\(dataFolder)/bootstrap.token", encoding: .utf8)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let test = TestServer(
            issuer: server.issuer,
            address: settings.issuer.flatMap { _ in Issuer("http://127.0.0.1:\(settings.port)") } ?? server.issuer,
            clock: clock, token: token, dataFolder: dataFolder, watch: watch,
            routes: server.routes)
        try await watch.plant(
            dataFolder: dataFolder, database: settings.database, issuer: server.issuer, clock: clock)
        let (results, report) = AsyncStream.makeStream(of: Swift.Result<Result, any Error>.self)
        try await server.run(until: []) {
            do {
                report.yield(.success(try await body(test)))
            } catch {
                report.yield(.failure(error))
            }
        }
        var iterator = results.makeAsyncIterator()
        guard let result = await iterator.next() else { throw CancellationError() }
        // A failure of the test says more than the leaks that it has caused.
        let value = try result.get()
        let leaks = watch.leaks.map(\.description)
        guard leaks.isEmpty else { throw ServerWatch.Leak(description: leaks.joined(separator: "\n")) }
        return value
    }

    /// Sends a request with exactly these bytes and header fields.
    ///
    /// - Parameters:
    ///   - method: the method.
    ///   - path: the path and the query.
    ///   - headers: the header fields.
    ///   - body: the body; nil for none.
    ///   - isChunked: whether the body is sent in chunks, without its length.
    ///   - isContract: whether the reply must match the OpenAPI document, which describes the native API.
    /// - Throws: ``UnexpectedReply`` if the reply does not match the OpenAPI document.
    package func send(
        _ method: HTTPMethod, _ path: String, headers: [(String, String)] = [], body: [UInt8]? = nil,
        isChunked: Bool = false, isContract: Bool = true
    ) async throws -> Reply {
        var request = HTTPClientRequest(url: address.uri(path))
        request.method = method
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if let body { request.body = isChunked ? .bytes(body, length: .unknown) : .bytes(body) }
        let response = try await TestHTTP.client.execute(request, timeout: .seconds(90))
        let reply = Reply(
            method: method, path: path, status: Int(response.status.code),
            headers: Dictionary(response.headers.map { ($0.name.lowercased(), $0.value) }) { "\($0), \($1)" },
            body: Array(try await response.body.collect(upTo: 8 << 20).readableBytesView))
        watch.note(
            method.rawValue, path, request: (headers: headers, body: body),
            reply: (status: reply.status, headers: reply.headers, body: reply.body))
        let faults = isContract ? Contract.served.faults(of: reply, requestBody: body) : []
        guard faults.isEmpty else {
            throw UnexpectedReply(
                description: "not as docs/openapi.json says: \(faults.joined(separator: "; "))\n\(reply)")
        }
        return reply
    }

    /// A caller of the routes for relying parties and operators.
    package func caller(_ authorization: String) -> Caller { Caller(server: self, authorization: authorization) }

    package var administrator: Caller { caller("Bearer \(token)") }

    /// Registers a client.
    ///
    /// - Parameter members: the body's members besides the name.
    package func makeClient(_ name: String = "ACME Shop", _ members: JSONObject = JSONObject()) async throws -> Caller {
        var body = members
        body["name"] = .string(name)
        let created = try await administrator.call(.POST, "/v1/admin/clients", .object(body)).success()
        guard let id = created["client_id"]?.string, let secret = created["client_secret"]?.string else {
            throw UnexpectedReply(description: "no client in \(created)")
        }
        return Caller(
            server: self, authorization: "Basic \(Base64.encode(Array("\(id):\(secret)".utf8)))", clientID: id,
            callbackSecret: created["callback_secret"]?.string ?? "")
    }
}

/// A client or an operator of a test server.
package struct Caller: Sendable {
    let server: TestServer
    /// The value of the field `Authorization`.
    package let authorization: String
    /// The client's id; empty for the operator.
    package private(set) var clientID = ""
    /// The secret that signs the client's callbacks; empty for the operator.
    package private(set) var callbackSecret = ""

    /// Sends a request with a JSON body.
    @discardableResult
    package func call(
        _ method: HTTPMethod, _ path: String, _ body: JSONValue? = nil, headers: [(String, String)] = []
    ) async throws -> Reply {
        try await send(method, path, headers: headers, body: body?.encoded)
    }

    /// Sends a request with exactly these bytes.
    package func send(
        _ method: HTTPMethod, _ path: String, headers: [(String, String)] = [], body: [UInt8]? = nil,
        isChunked: Bool = false
    ) async throws -> Reply {
        var headers = headers + [("Authorization", authorization)]
        if body != nil { headers.append(("Content-Type", "application/json")) }
        return try await server.send(method, path, headers: headers, body: body, isChunked: isChunked)
    }

    /// Creates a user and returns its id.
    package func makeUser(_ externalID: String? = nil) async throws -> String {
        let body = JSONValue.members(["external_id": externalID.map(JSONValue.string)])
        return try await call(.POST, "/v1/users", body).success()["id"]?.string ?? ""
    }

    /// Creates a ticket and returns the text of its QR code.
    package func makeTicket(for user: String) async throws -> String {
        try await call(.POST, "/v1/users/\(user)/enrollment-tickets").success()["qr"]?.string ?? ""
    }

    /// Asks a user to confirm a payment and returns the reply's body.
    ///
    /// - Parameters:
    ///   - user: the user.
    ///   - members: further members of the body; they replace default members with the same names.
    @discardableResult
    package func ask(_ user: String, _ members: JSONObject = JSONObject()) async throws -> JSONValue {
        var body = JSONObject([
            "user": .string(user), "type": "payment", "message": "Pay EUR 1,250.00 to ACME GmbH?",
        ])
        for member in members.members { body[member.name] = member.value }
        return try await call(.POST, "/v1/challenges", .object(body)).success()
    }
}

/// A reply of a server.
package struct Reply: Sendable, CustomStringConvertible {
    /// The request's method.
    package let method: HTTPMethod
    /// The request's path and query.
    package let path: String
    /// The status.
    package let status: Int
    /// The header fields, by lower-case names.
    package let headers: [String: String]
    /// The body.
    package let body: [UInt8]

    package init(method: HTTPMethod, path: String, status: Int, headers: [String: String], body: [UInt8]) {
        self.method = method
        self.path = path
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The body as JSON; null if it is not JSON.
    package var json: JSONValue { (try? JSONValue(parsing: body)) ?? .null }
    /// The problem's code; nil for a success.
    package var code: String? { json["code"]?.string }
    /// The status and the body, for a failing test.
    package var description: String { "\(method) \(path): \(status) \(String(decoding: body, as: UTF8.self))" }

    /// The body of a successful reply.
    ///
    /// - Throws: ``UnexpectedReply`` for every status other than 2xx.
    package func success() throws -> JSONValue {
        guard (200..<300).contains(status) else { throw UnexpectedReply(description: description) }
        return json
    }
}

/// A reply with which a test cannot continue.
package struct UnexpectedReply: Error, CustomStringConvertible {
    /// The request and the reply.
    package let description: String
}
