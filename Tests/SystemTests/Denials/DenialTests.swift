import Foundation
import ServerTestSupport
import TestSupport
import Testing

/// How long after a denial each way to wait for it ends.
///
/// `make test` runs a few, on whatever else the machine does, and allows three times as long.
@Suite("A denial on the phone ends at once what waits for it", .serialized, .timeLimit(.minutes(60)))
struct DenialTests {
    /// How many denials of each kind; 200 or more are held to the aim itself.
    private static let count = ProcessInfo.processInfo.environment["COUNTERSIGN_DENIALS"].flatMap { Int($0) } ?? 20

    @Test("On one node, 19 of 20 clients know within 100 ms of the phone's 200, however they wait")
    func oneNode() async throws {
        let keeper = try ServerKeeper(
            folder: try TemporaryFolder(), port: FreePort.next(), arguments: DenialStage.arguments)
        let result = await Result {
            try await keeper.start()
            let node = NodeCaller(url: keeper.url)
            try await Self.measure(
                "on one node", within: .milliseconds(100), data: keeper.data, issuer: keeper.url, clientAt: node,
                phonesAt: node)
        }
        if case .failure = result { print("the server's last words: \(await keeper.lastWords)") }
        try? await keeper.stop()
        try result.get()
    }

    @Test("Where the phone answers at one node, 19 of 20 clients at another know within 500 ms")
    func twoNodes() async throws {
        let server = try PostgresServer()
        try server.sql("CREATE DATABASE countersign", in: "postgres")
        let arguments = ["--database-wakes", "notified"] + DenialStage.arguments
        try await Nodes.with(count: 2, database: server.address(), arguments: arguments) { nodes in
            try await Self.measure(
                "across two nodes", within: .milliseconds(500), data: nodes.data, issuer: nodes.url,
                clientAt: NodeCaller(url: nodes.keepers[0].url), phonesAt: NodeCaller(url: nodes.keepers[1].url))
        }
    }

    private static func measure(
        _ place: String, within aim: Duration, data: String, issuer: String, clientAt node: NodeCaller,
        phonesAt other: NodeCaller
    ) async throws {
        let receiver = try await DenialReceiver()
        let result = await Result {
            let people = (count + DenialStage.denialsOfPerson - 1) / DenialStage.denialsOfPerson
            // The first person warms up what is made once.
            let stage = try await DenialStage(
                people: people + 1, data: data, issuer: issuer, clientAt: node, phonesAt: other, receiver: receiver)
            for flow in DenialStage.Flow.allCases {
                try await stage.register(for: flow)
                _ = try await stage.denial(of: flow, by: stage.people[0])
                var samples: [Duration] = []
                for number in 0..<count {
                    let person = stage.people[1 + number / DenialStage.denialsOfPerson]
                    samples.append(try await stage.denial(of: flow, by: person))
                }
                judge(samples.sorted(), of: flow, place, within: count < 200 ? aim * 3 : aim)
            }
        }
        try await receiver.close()
        try result.get()
    }

    /// Prints all samples, and judges the 190th of 200.
    private static func judge(
        _ sorted: [Duration], of flow: DenialStage.Flow, _ place: String, within limit: Duration
    ) {
        func milliseconds(_ time: Duration) -> String { String(format: "%.1f", time / .milliseconds(1)) }
        let rank = max(1, sorted.count * 95 / 100)
        let worst = sorted[rank - 1]
        print(
            "denials \(place), \(flow.rawValue): number \(rank) of \(sorted.count) after \(milliseconds(worst)) ms; "
                + "all: \(sorted.map(milliseconds).joined(separator: " "))")
        #expect(worst <= limit, "\(flow.rawValue) \(place): \(milliseconds(worst)) ms")
    }
}
