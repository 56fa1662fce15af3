import ArgumentParser
import BenchmarkSupport
import Encodings
import Foundation

/// Measures what signing in costs the server: the token endpoint, the endpoints that tokens are shown to, and a page.
@main
struct CountersignSignIn: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "countersign-sign-in", abstract: "Measure the OpenID provider under load.",
        discussion: """
            Starts the program `countersign serve` on a fresh database. People sign in on its pages by the number on \
            their phone, which is the SDK; then their browsers fetch codes, which two clients redeem. At last people \
            approve on their phones what a client's server, or a device, asks. Only what is named in the table is \
            measured. A reply that is not as it must be ends the run. Build both for release.
            """)

    @OptionGroup var servers: ServerOptions

    @Option(help: "How many people sign in; a session gives 60 codes a minute.")
    var people = 200

    @Option(help: "How many connections work at the same time.")
    var connections = 32

    @Option(help: "How many codes are redeemed for each way of signing, at least.")
    var exchanges = 10_000

    @Option(help: "How many requests of a client's server, and how many of devices, are approved on phones.")
    var cycles = 3000

    mutating func validate() throws {
        guard (1...10_000).contains(people), (1...1000).contains(connections), exchanges >= 10, cycles >= 10 else {
            throw ValidationError(
                "There must be 1 to 10,000 people, 1 to 1000 connections, 10 exchanges or more, and 10 cycles or more.")
        }
    }

    mutating func run() async throws {
        // A server that closes a connection must not end this program.
        signal(SIGPIPE, SIG_IGN)
        let (people, connections, exchanges, cycles) = (people, connections, exchanges, cycles)
        // The people's addresses come by a proxy, and one client asks for more people than any would.
        let arguments = ["--proxies", "127.0.0.1", "--limits-code-asks", "1000000"]
        // Passkeys are offered where the host has a name.
        let report = try await servers.withServers(arguments, as: "localhost") { deployment, unavoidable in
            let volley = try Volley(to: deployment.ports, connections: connections)
            defer { volley.end() }
            var run = Run(
                exchanges: exchanges, deployment: deployment, volley: volley,
                site: try await Site(deployment, people: people))
            try await run.measure()
            try? await run.site.end()
            try await run.measure(cycles: cycles, atOnce: connections)
            return Report(run: run, unavoidable: unavoidable, machine: Machine())
        }
        print(report.text(on: servers, people: people, connections: connections))
        try report.aims(on: servers.engine).check()
    }
}

/// The measurements, in their order.
struct Run: Sendable {
    /// What the aims are about.
    enum Kind: String, CaseIterable, Sendable {
        case exchange = "code exchange, ES256 ID token"
        case refresh = "refresh, ES256 ID token"
        case page = "identifier page"
        case webExchange = "code exchange, RS256 ID token"
        case introspection = "introspection"
        case userinfo = "userinfo"
        case webRefresh = "refresh, RS256 ID token"
        case backchannel = "CIBA cycle, ES256 ID token"
        case deviceGrant = "device grant cycle, ES256 ID token"
    }

    let exchanges: Int
    let deployment: Deployment
    let volley: Volley
    var site: Site
    var figures: [Kind: Figure] = [:]
    /// How old the oldest code was when it was redeemed, in seconds.
    var oldestCode = 0.0
    /// How many different tokens were introspected.
    var introspected = 0
    var weight: PageWeight?

    mutating func measure() async throws {
        let page = try await redeem(for: site.page, as: .exchange)
        try await refresh(page, of: site.page, as: .refresh)
        try await renderPages()
        // By now the sessions may give codes again, or soon will.
        let web = try await redeem(for: site.web, as: .webExchange)
        try await introspect(web)
        try await showClaims(web)
        try await refresh(web, of: site.web, as: .webRefresh)
    }

    /// Has people approve what a client's server asks, then what devices ask.
    ///
    /// It comes last, as each person's phone waits from then on.
    mutating func measure(cycles: Int, atOnce workers: Int) async throws {
        let people = (cycles + Crew.questionsOfDevices - 1) / Crew.questionsOfDevices
        let crew = try await Crew(deployment, people: max(people, workers))
        for (kind, door) in [(Kind.backchannel, Crew.Door.backchannel), (Kind.deviceGrant, Crew.Door.device)] {
            let rota = crew.rota(of: door)
            var figure = Figure(name: kind.rawValue)
            try await figure.measure(cycles, on: deployment) { count in
                try await rota.run(count, atOnce: workers) { try await crew.cycle(door, $0) }.map(\.seconds)
            }
            figures[kind] = figure
        }
        try? await crew.end()
    }

    private mutating func measure(_ requests: [PreparedRequest], as kind: Kind) async throws -> [Exchange?] {
        var figure = figures[kind] ?? Figure(name: kind.rawValue)
        let exchanges = try await figure.measure(requests, by: volley, on: deployment)
        figures[kind] = figure
        return exchanges
    }

    /// Makes codes, which is not measured, and redeems them, until enough were.
    private mutating func redeem(for party: Party, as kind: Kind) async throws -> [Tokens] {
        var all: [Exchange] = []
        while true {
            let missing = exchanges - (figures[kind]?.times.count ?? 0)
            guard missing > 0 else { break }
            // A tenth is not measured.
            let count = min(missing * 10 / 9 + 10, site.mostCodes)
            let codes = try await site.makeCodes(count, for: party, by: volley)
            let redeemed = try await measure(codes.map(party.redeeming), as: kind)
            let ages = zip(codes, redeemed).compactMap { code, exchange in
                exchange.map { ($0.at - code.at).inSeconds }
            }
            guard let oldest = ages.max() else { throw Unexpected(description: "no code was redeemed in time") }
            oldestCode = max(oldestCode, oldest)
            all += redeemed.compactMap(\.self)
        }
        return try Tokens.all(all, signedBy: party.algorithm)
    }

    /// Refreshes each of the tokens once.
    private mutating func refresh(_ tokens: [Tokens], of party: Party, as kind: Kind) async throws {
        let requests = tokens.map {
            party.posting([("grant_type", "refresh_token"), ("refresh_token", $0.refresh)])
        }
        let exchanges = try await measure(requests, as: kind).compactMap(\.self)
        let refreshed = try Tokens.all(exchanges, signedBy: party.algorithm)
        let kept = Set(refreshed.map(\.refresh)).intersection(tokens.map(\.refresh)).count
        // Only a client that proves who it is keeps its token. Spec: RFC 9700 §4.14.2.
        guard kept == (party.isWeb ? tokens.count : 0),
            Set(refreshed.map(\.access)).isDisjoint(with: tokens.map(\.access))
        else { throw Unexpected(description: "\(kept) of \(tokens.count) refresh tokens are those of before") }
    }

    /// Renders the page that asks who signs in, each time for a browser without a cookie.
    private mutating func renderPages() async throws {
        let host = site.web.host
        let requests = (0..<2 * exchanges).map { _ in
            PreparedRequest(site.web.authorizing(Code.newVerifier), at: host)
        }
        let rendered = try await measure(requests, as: .page).compactMap(\.self)
        let sealed = rendered.filter { exchange in
            exchange.reply.body.firstRange(of: Array(#"name="identifier""#.utf8)) != nil
                && exchange.reply.field("set-cookie") != nil
        }
        guard sealed.count == rendered.count, let first = rendered.first else {
            throw Unexpected(description: "\(rendered.count - sealed.count) pages are others")
        }
        weight = try await PageWeight(of: first.reply, at: host, by: volley)
    }

    /// Introspects each token twice, so that no token comes again soon.
    private mutating func introspect(_ tokens: [Tokens]) async throws {
        let party = site.web
        let requests = (tokens + tokens).map { party.posting([("token", $0.access)], to: "/oauth2/introspect") }
        var names: Set<String> = []
        for exchange in try await measure(requests, as: .introspection).compactMap(\.self) {
            let json = try JSONValue(parsing: exchange.reply.body)
            guard json["active"] == true, let name = json["jti"]?.string else {
                throw Unexpected(description: "a token is not good: \(json)")
            }
            names.insert(name)
        }
        introspected = names.count
        guard introspected == tokens.count else {
            throw Unexpected(description: "\(introspected) names of \(tokens.count) tokens")
        }
    }

    private mutating func showClaims(_ tokens: [Tokens]) async throws {
        let host = site.web.host
        let requests = tokens.map {
            PreparedRequest("/oauth2/userinfo", at: host, [("Authorization", "Bearer \($0.access)")])
        }
        for exchange in try await measure(requests, as: .userinfo).compactMap(\.self) {
            let json = try JSONValue(parsing: exchange.reply.body)
            guard json["sub"]?.string != nil, json["email"]?.string != nil else {
                throw Unexpected(description: "userinfo: \(json)")
            }
        }
    }
}
