import AsyncHTTPClient
import BenchmarkSupport
import Countersign
import CountersignWire
import Encodings
import Foundation
import NIOCore
import NIOHTTP1

/// Somebody whose phone is the SDK, and waits for questions.
struct Approver: Sendable {
    /// The client's own name for them.
    let name: String
    private let questions: AsyncStream<PendingChallenge>

    /// Enrolls a phone, which waits by long poll from now on.
    init(_ number: Int, by portal: PortalConnection) async throws {
        name = "approver-\(number)"
        let (_, phone) = try await portal.addUser(
            ["external_id": .string(name)], with: PooledTransport(sharing: portal))
        let (questions, continuation) = AsyncStream.makeStream(of: PendingChallenge.self)
        self.questions = questions
        Task {
            for await question in phone.challenges() { continuation.yield(question) }
            continuation.finish()
        }
    }

    /// Approves what the phone is asked next.
    func approve(_ number: String?) async throws {
        for await question in questions {
            _ = try await question.open().approve(with: .confirmation, number: number)
            return
        }
        throw Unexpected(description: "the phone is not enrolled")
    }
}

/// A client that has people asked without a browser, and these people.
struct Crew: Sendable {
    /// Who asks.
    enum Door: Sendable {
        /// The client's server.
        ///
        /// Spec: CIBA Core 1.0 §7, §10.1.
        case backchannel
        /// A device that names the person.
        ///
        /// Spec: RFC 8628 §3.1, §3.4.
        case device

        var path: String { self == .device ? "/oauth2/device_authorization" : "/oauth2/bc-authorize" }
        var handle: String { self == .device ? "device_code" : "auth_req_id" }

        var grant: String {
            self == .device ? "urn:ietf:params:oauth:grant-type:device_code" : "urn:openid:params:grant-type:ciba"
        }
    }

    /// How many questions of devices a person gets in an hour, by the server's own limit.
    static let questionsOfDevices = 3
    /// How many phones are enrolled at the same time: the server refuses what is more than it can do.
    private static let atOnce = 16

    private let operating: PortalConnection
    private let portal: PortalConnection
    private let people: [Approver]

    /// Adds a client and people.
    init(_ deployment: Deployment, people count: Int) async throws {
        let operating = PortalConnection(operating: deployment, noting: Exchanges())
        do {
            (portal, people) = try await Self.make(by: operating, people: count)
        } catch {
            // A client that is not shut down ends the program, and nobody reads why.
            try? await operating.http.shutdown()
            throw error
        }
        self.operating = operating
    }

    private static func make(
        by operating: PortalConnection, people count: Int
    ) async throws -> (PortalConnection, [Approver]) {
        let (id, portal) = try await operating.addClient(["name": "ACME Bank"])
        _ = try await operating.call(
            .PUT, "/v1/admin/clients/\(id)/openid",
            [
                // As banks have it: FAPI forbids RS256, which is a row of its own among the code exchanges.
                "profile": "web", "id_token_signed_response_alg": "ES256",
                "redirect_uris": [], "registration": "known", "ways": ["device", "qr"],
                "device_grant": true, "device_login_hint": true, "backchannel_token_delivery_mode": "poll",
                "backchannel_number_entry": true,
            ])
        let people = try await withThrowingTaskGroup(of: Approver.self) { group in
            var people: [Approver] = []
            for number in 1...count {
                if number > atOnce, let approver = try await group.next() { people.append(approver) }
                group.addTask { try await Approver(number, by: portal) }
            }
            for try await approver in group { people.append(approver) }
            return people
        }
        return (portal, people)
    }

    /// The people, as they can be asked by this door.
    func rota(of door: Door) -> Rota<Approver> {
        Rota(people, turns: door == .device ? Self.questionsOfDevices : .max)
    }

    /// From the request that names a person to the client's tokens; returns the access token.
    func cycle(_ door: Door, _ person: Approver) async throws -> String {
        let (status, asked) = try await post(
            door.path, [("scope", "openid"), ("login_hint", "external_id:\(person.name)")])
        guard status == 200, let handle = asked[door.handle]?.string else {
            throw Unexpected(description: "\(door.path): \(status) \(asked)")
        }
        async let token = tokens(for: handle, door)
        try await person.approve(asked["number"]?.string)
        return try await token
    }

    /// Polls for tokens, and lets each poll wait; returns the access token.
    private func tokens(for handle: String, _ door: Door) async throws -> String {
        while true {
            let (status, body) = try await post(
                "/oauth2/token", [("grant_type", door.grant), (door.handle, handle)], [("Prefer", "wait=30")])
            if status == 200, body["id_token"] != nil, let token = body["access_token"]?.string { return token }
            guard body["error"] == "authorization_pending" else {
                throw Unexpected(description: "tokens: \(status) \(body)")
            }
            try await Task.sleep(for: .seconds(5))
        }
    }

    private func post(
        _ path: String, _ form: [(String, String)], _ fields: [(String, String)] = []
    ) async throws -> (Int, JSONValue) {
        var request = HTTPClientRequest(url: portal.deployment.url + path)
        request.method = .POST
        request.headers.add(name: "Authorization", value: portal.authorization)
        request.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
        for (name, value) in fields { request.headers.add(name: name, value: value) }
        request.body = .bytes(ByteBuffer(string: FormText.encoded(form)))
        let response = try await portal.http.execute(request, timeout: .seconds(60))
        let bytes = Array(try await response.body.collect(upTo: 1 << 20).readableBytesView)
        return (Int(response.status.code), try JSONValue(parsing: bytes))
    }

    /// Cuts off requests in progress.
    func end() async throws { try await operating.http.shutdown() }
}
