package import AsyncHTTPClient
package import Countersign
package import Encodings
import Foundation
import NIOCore
package import NIOHTTP1

/// An unexpected reply, after which the measurement cannot continue.
package struct Unexpected: Error, Equatable, CustomStringConvertible {
    package let description: String

    package init(description: String) { self.description = description }
}

/// A portal's connection to the servers.
package struct PortalConnection: Sendable {
    package let http: HTTPClient
    package let deployment: Deployment
    package let exchanges: Exchanges
    package let authorization: String

    private init(_ http: HTTPClient, _ deployment: Deployment, _ exchanges: Exchanges, authorization: String) {
        (self.http, self.deployment, self.exchanges, self.authorization) = (http, deployment, exchanges, authorization)
    }

    /// The operator's connection, with a connection for each request that is under way.
    ///
    /// - Parameters:
    ///   - deployment: the servers.
    ///   - exchanges: gets the times of all requests.
    package init(operating deployment: Deployment, noting exchanges: Exchanges) {
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 4096
        configuration.redirectConfiguration = .disallow
        self.init(
            HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration), deployment, exchanges,
            authorization: "Bearer \(deployment.token)")
    }

    /// Adds a client, by the operator's connection.
    ///
    /// - Parameter members: what is known of it.
    /// - Returns: its id, and its connection.
    package func addClient(_ members: JSONValue) async throws -> (id: String, portal: PortalConnection) {
        let client = try await call(.POST, "/v1/admin/clients", members)
        let id = client["client_id"]?.string ?? ""
        let credentials = "\(id):\(client["client_secret"]?.string ?? "")"
        let authorization = "Basic \(Base64.encode(Array(credentials.utf8)))"
        return (id, PortalConnection(http, deployment, exchanges, authorization: authorization))
    }

    /// Adds a user, and enrolls a phone of theirs.
    ///
    /// - Parameters:
    ///   - person: what is known of the user.
    ///   - transport: sends the phone's requests.
    package func addUser(
        _ person: JSONValue = .members([:]), with transport: any Transport
    ) async throws -> (user: String, phone: Authenticator) {
        let user = try await call(.POST, "/v1/users", person)["id"]?.string ?? ""
        let ticket = try await call(.POST, "/v1/users/\(user)/enrollment-tickets")["qr"]?.string ?? ""
        guard let issuer = URL(string: deployment.issuer) else { throw Unexpected(description: deployment.issuer) }
        let phone = try await Authenticator(
            issuer: issuer, app: AppDescription(name: "Benchmark", version: "1", deviceName: "Benchmark phone"),
            vault: InsecureSimulatedBiometrics(before: MemoryVault()) { _ in nil }, transport: transport)
        _ = try await phone.enroll(with: .ticket(ticket))
        return (user, phone)
    }

    /// Sends a request; an error reply ends the measurement.
    package func call(_ method: HTTPMethod, _ path: String, _ body: JSONValue? = nil) async throws -> JSONValue {
        let reply = try await exchange(method, path, body)
        guard (200..<300).contains(reply.status) else { throw Unexpected(description: "\(method) \(path): \(reply)") }
        return reply.body
    }

    /// Sends a request, and returns the reply, whatever its status.
    package func exchange(_ method: HTTPMethod, _ path: String, _ body: JSONValue? = nil) async throws -> Reply {
        var request = HTTPClientRequest(url: deployment.url + path)
        request.method = method
        request.headers.add(name: "Authorization", value: authorization)
        if let body {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(body.encoded)
        }
        let begin = ContinuousClock.now
        let response = try await http.execute(request, timeout: .seconds(90))
        let bytes = Array(try await response.body.collect(upTo: 1 << 20).readableBytesView)
        exchanges.note(path, Int(response.status.code), from: begin)
        return Reply(
            status: Int(response.status.code), retryAfter: response.headers.first(name: "Retry-After"),
            body: bytes.isEmpty ? [:] : try JSONValue(parsing: bytes))
    }
}

/// A reply to a portal.
package struct Reply: Sendable {
    package let status: Int
    package let retryAfter: String?
    package let body: JSONValue
}
