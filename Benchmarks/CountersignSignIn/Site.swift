import AsyncHTTPClient
import BenchmarkSupport
import Countersign
import Encodings
import Foundation

/// Two clients, and people who are signed in to them in browsers.
struct Site: Sendable {
    /// How many codes a session gives in a minute, by the server's own limit.
    static let codesOfSession = 60
    /// For how long codes are made, so that the first of them is not too old when the last one is there.
    private static let longestMaking = Duration.seconds(20)
    /// How many people sign in at the same time: the server refuses what is more than it can do.
    private static let atOnce = 16

    let web: Party
    /// A page that runs in the browser alone.
    let page: Party
    private let operating: PortalConnection
    private let visitors: [Visitor]
    private var given = 0
    /// When the sessions may give codes again; nil before the first one.
    private var freshAt: ContinuousClock.Instant?

    /// Adds the clients, enrolls a phone for each person, and signs them in.
    init(_ deployment: Deployment, people: Int) async throws {
        let operating = PortalConnection(operating: deployment, noting: Exchanges())
        let web = try await Party("ACME Shop", isWeb: true, by: operating)
        (self.operating, self.web) = (operating, web)
        page = try await Party("ACME Page", isWeb: false, by: operating)
        visitors = try await withThrowingTaskGroup(of: Visitor.self) { group in
            var visitors: [Visitor] = []
            for number in 1...people {
                if number > Self.atOnce, let visitor = try await group.next() { visitors.append(visitor) }
                group.addTask { try await Self.signIn(number, at: web) }
            }
            for try await visitor in group { visitors.append(visitor) }
            return visitors
        }
    }

    private static func signIn(_ number: Int, at web: Party) async throws -> Visitor {
        let person = "customer-\(number)"
        let (_, phone) = try await web.portal.addUser(
            ["external_id": .string(person), "email": .string("\(person)@example.com")],
            with: PooledTransport(sharing: web.portal))
        var visitor = Visitor(number: number, by: web.portal)
        try await visitor.signIn(by: web.authorizing(Code.newVerifier, person: person), with: phone)
        return visitor
    }

    /// How many codes can be made at a time.
    var mostCodes: Int { visitors.count * Self.codesOfSession }

    /// Makes codes: browsers with a session come from a client, and are sent back to it at once.
    ///
    /// - Parameters:
    ///   - count: how many at most; fewer if they take too long.
    ///   - party: the client.
    ///   - volley: the connections.
    /// - Returns: the codes, oldest first.
    mutating func makeCodes(_ count: Int, for party: Party, by volley: Volley) async throws -> [Code] {
        if given + count > mostCodes, let freshAt {
            try await Task.sleep(until: freshAt)
            (given, self.freshAt) = (0, nil)
        }
        let verifiers = (0..<count).map { _ in Code.newVerifier }
        let end = ContinuousClock.now + Self.longestMaking
        let requests = verifiers.enumerated().map { number, verifier in
            var request = PreparedRequest(
                party.authorizing(verifier), at: party.host, visitors[(given + number) % visitors.count].fields)
            request.notAfter = end
            return request
        }
        let exchanges = try await volley.fire(requests[...], expecting: 303)
        given += count
        // Each session counts for a minute from its first code on.
        if freshAt == nil { freshAt = .now + .seconds(61) }
        return try zip(exchanges, verifiers).compactMap { exchange, verifier in
            try exchange.map { try Code($0, verifier: verifier, at: party.portal.deployment.issuer) }
        }
    }

    /// Cuts off requests in progress.
    func end() async throws { try await operating.http.shutdown() }
}
