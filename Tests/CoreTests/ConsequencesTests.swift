import CountersignCore
import CountersignStorage
import CountersignWire
import StorageTestSupport
import TestSupport
import Testing

@Suite("What follows from what happens, seen from outside", .timeLimit(.minutes(15)))
struct ConsequencesTests {
    /// How many acts; in a fifth of them one of the first transactions fails at its end.
    private static let acts = 400

    /// Subscriptions to everything that is known; whoever is notified must be among what the commits have said.
    private struct Listeners {
        private var all: [ChangeTopic: any ChangeSubscription] = [:]

        mutating func add(_ rows: RowState, _ changes: any ChangeNotifier) {
            let challenges = rows.challenges.keys.compactMap { ChallengeID($0) }.map(ChangeTopic.challenge)
            let enrollments = rows.enrollments.keys.compactMap { EnrollmentID($0) }.map(ChangeTopic.enrollment)
            let topics = Set(challenges + enrollments + OutboxMessage.Kind.allCases.map(ChangeTopic.outbox) + [.keys])
            all = all.filter { topics.contains($0.key) }
            for topic in topics where all[topic] == nil { all[topic] = changes.subscribe(to: topic) }
        }

        /// Whom something has notified since the last time.
        func notified() async throws -> Set<ChangeTopic> {
            var notified: Set<ChangeTopic> = []
            for (topic, subscription) in all where try await subscription.takeNotice() { notified.insert(topic) }
            return notified
        }

        func known(_ topics: [ChangeTopic]) -> Set<ChangeTopic> { Set(topics.filter { all[$0] != nil }) }
    }

    /// What is checked besides each commit: how often each challenge was called back, and what was seen at all.
    private struct Seen {
        var kinds: Set<String> = []
        var messages: [String: Int] = [:]
        var failures = 0
    }

    @Test("Every commit leaves the events, messages and notifications that its rows call for, and a failed one nothing")
    func agree() async throws {
        let chance = SeededGenerator.announced(by: "ConsequencesTests.agree")
        var scene = try await ConsequenceScene(chance)
        var listeners = Listeners()
        var seen = Seen()
        for number in 0..<Self.acts {
            try await scene.restock()
            scene.world.time.advance(seconds: scene.chance.happens(percent: 5) ? 100 : 3)
            let act = try scene.any(ConsequenceScene.drawn)
            let fault = try await Self.fault(of: act, in: &scene, &listeners, &seen)
            #expect(fault == nil, "seed \(chance.seed), act \(number), \(act): \(fault ?? "")")
            if fault != nil { return }
        }
        #expect(seen.failures > 10 && seen.kinds.isSuperset(of: Self.kinds), "\(seen.kinds.sorted())")
        try await checkWhole(scene.world, seen)
    }

    /// Performs an act, and says what is wrong after it.
    private static func fault(
        of act: ConsequenceScene.Act, in scene: inout ConsequenceScene, _ listeners: inout Listeners,
        _ seen: inout Seen
    ) async throws -> String? {
        let (world, watch) = (scene.world, scene.watch)
        let now = world.time.now
        let before = try await watch.rows(since: now.milliseconds)
        listeners.add(before, world.hub)
        _ = try await listeners.notified()
        let failing = scene.chance.happens(percent: 20) ? Int.random(in: 0...2, using: &scene.chance) : nil
        var actor = Actor.system
        var hasFailed = false
        let commits = try await watch.commits(since: now.milliseconds, failing: failing) {
            do {
                try await scene.perform(act) { actor = $0 }
            } catch is CommitWatch.Failure {
                hasFailed = true
            } catch is World.Broken {
                // There was nothing to act on, or it was refused.
            } catch is DeviceRefusal {}
        }
        let after = try await watch.rows(since: now.milliseconds)
        if hasFailed {
            seen.failures += 1
            guard after == commits.last?.after ?? before else { return "a failed commit has left something" }
        }
        for commit in commits {
            let expected = Expectation(from: commit, isSweep: actor == .system, at: now)
            let found = try Expectation(of: commit, openedBy: try world.store.sealer)
            guard found == expected else { return "by \(actor): \(found.differences(from: expected))" }
            for event in commit.events where event.actor != "\(actor)" {
                return "\(event.kind) is audited as done by \(event.actor), and was by \(actor)"
            }
            seen.kinds.formUnion(commit.events.map(\.kind))
            for message in found.messages { seen.messages[message, default: 0] += 1 }
        }
        // Of another node's commits PostgreSQL tells a little later.
        guard world.postgres == nil else { return nil }
        let notified = try await listeners.notified()
        let told = listeners.known(commits.flatMap(\.topics))
        return notified == told ? nil : "notified are \(notified), and should be \(told)"
    }

    /// What a run of this length has seen, unless the acts do nothing any more.
    private static let kinds: Set<String> = [
        "challenge.asked", "challenge.fetched", "challenge.approved", "challenge.denied", "challenge.cancelled",
        "challenge.expired", "enrollment.created", "enrollment.removed",
    ]

    /// Every end stands in the audit once, and was called back once where it was to be.
    private func checkWhole(_ world: World, _ seen: Seen) async throws {
        let ends = """
            ('challenge.approved', 'challenge.denied', 'challenge.reported', 'challenge.failed',
            'challenge.cancelled', 'challenge.expired')
            """
        let challenges = try await world.sql(
            """
            SELECT c.id, c.client_id, c.state, c.callback_uri,
            (SELECT count(*) FROM audit a WHERE a.challenge_id = c.id AND a.kind IN \(ends)) FROM challenges c
            """)
        #expect(challenges.count > 30)
        for row in challenges {
            let (id, client, state) = (try row.text(0), try row.text(1), try row.text(2))
            #expect(try row.integer(4) == (state == "pending" ? 0 : 1), "ends of \(id)")
            let isCalledBack = try state != "pending" && row.optionalText(3) != nil
            #expect(
                seen.messages["callback \(client) \(id) \(state)"] ?? 0 == (isCalledBack ? 1 : 0), "callbacks of \(id)")
        }
        let removals = try await world.sql(
            """
            SELECT e.id, (SELECT count(*) FROM audit a WHERE a.enrollment_id = e.id AND a.kind = 'enrollment.removed')
            FROM enrollments e WHERE e.removed_at IS NOT NULL
            """)
        for row in removals {
            let (id, count) = (try row.text(0), try row.integer(1))
            #expect(count == 1, "removals of \(id)")
        }
    }
}
