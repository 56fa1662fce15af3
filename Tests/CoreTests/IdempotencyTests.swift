import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import Testing

@testable import CountersignCore

@Suite("A key under which something is done once")
struct IdempotencyTests {
    private func key(
        _ key: String = "k", scope: String = "cli_1 POST /v1/users", digest: UInt8 = 1
    ) throws -> IdempotencyKey {
        try #require(
            IdempotencyKey(
                scope: scope, key: key, requestDigest: MessageDigest(stored: [UInt8](repeating: digest, count: 32))))
    }

    private enum Made: KeptOutcome {
        case made(UserID)
        case refused

        var kept: KeptForm? {
            if case .made(let user) = self { KeptForm(["user": .string("\(user)")]) } else { nil }
        }

        init?(kept: KeptForm, of _: Void) {
            guard let user = kept.read("user", { UserID($0) }) else { return nil }
            self = .made(user)
        }
    }

    /// Makes a user under a key and tells what came of it.
    private func once(_ key: IdempotencyKey?, in world: World, refuse: Bool = false) async throws -> String {
        let now = world.time.now
        let user: UserID = world.random.id(at: now)
        let result: Replayable<Made> = try await world.ports.commit(at: now, as: .system) { work in
            try work.once(key, ()) {
                if refuse { return .refused }
                try work.users.insert(user, at: now)
                return .made(user)
            }
        }
        switch result {
        case .done(.refused), .replayed(.refused): return "refused"
        case .done(.made(let user)): return "made \(user)"
        case .replayed(.made(let user)): return "replayed \(user)"
        case .conflict: return "conflict"
        }
    }

    @Test("A repeat gets the first outcome and does nothing")
    func replays() async throws {
        let world = try await World()
        let first = try await once(try key(), in: world)
        let user = first.dropFirst("made ".count)
        #expect(first.hasPrefix("made "))
        for _ in 0..<3 { #expect(try await once(try key(), in: world) == "replayed \(user)") }
        #expect(try await world.count("users") == 1)
    }

    @Test("The same key with another body is a conflict, and the first reply stays")
    func conflict() async throws {
        let world = try await World()
        _ = try await once(try key(), in: world)
        #expect(try await once(try key(digest: 2), in: world) == "conflict")
        #expect(try await once(try key(), in: world).hasPrefix("replayed"))
        #expect(try await world.count("users") == 1)
    }

    @Test("Another key, another caller or route, and no key at all are other requests")
    func distinct() async throws {
        let world = try await World()
        let keys = [try key(), try key("K"), try key("k2"), try key(scope: "cli_2 POST /v1/users"), nil, nil]
        for key in keys { #expect(try await once(key, in: world).hasPrefix("made ")) }
        #expect(try await world.count("users") == 6)
        #expect(try await world.count("replies") == 4)
    }

    @Test("Refusals and faults are not kept: the request may be tried again")
    func refusalsAreNotKept() async throws {
        let world = try await World()
        #expect(try await once(try key(), in: world, refuse: true) == "refused")
        let key = try key()
        let now = world.time.now
        await #expect(throws: StoreError.unavailable) {
            try await world.ports.commit(at: now, as: .system) { work in
                _ =
                    try work.once(key, ()) {
                        try work.users.insert(UserID(at: now, random: [UInt8](repeating: 0, count: 10)), at: now)
                        throw StoreError.unavailable
                    } as Replayable<Made>
            }
        }
        #expect(try await world.count("users") == 0)
        #expect(try await world.count("replies") == 0)
        #expect(try await once(key, in: world).hasPrefix("made "))
    }

    @Test("A reply is kept for 24 hours, and then the key is free")
    func lifetime() async throws {
        let world = try await World()
        _ = try await once(try key(), in: world)
        world.time.advance(seconds: 24 * 3600)
        var now = world.time.now
        _ = try await world.ports.store.commit { [now] in try $0.retention.sweep(now: now, limit: 100) }
        #expect(try await once(try key(), in: world).hasPrefix("replayed"))
        world.time.advance(milliseconds: 1)
        now = world.time.now
        _ = try await world.ports.store.commit { [now] in try $0.retention.sweep(now: now, limit: 100) }
        #expect(try await once(try key(), in: world).hasPrefix("made"))
    }

    @Test("What is kept and cannot be read is a fault, and no other outcome")
    func corrupt() async throws {
        let world = try await World()
        _ = try await once(try key(), in: world)
        let now = world.time.now
        let other = try key("other")
        try await world.store.commit { try $0.replies.insert(KeptForm(["user": "nobody"]), for: other, at: now) }
        await #expect(throws: StoreError.corruptRow("reply")) { try await once(other, in: world) }
    }

    @Test(
        "A key is 1 to 255 visible ASCII characters",
        arguments: [
            ("a", true), (String(repeating: "~", count: 255), true), ("", false),
            (String(repeating: "a", count: 256), false), ("a b", false), ("é", false), ("a\u{7F}", false),
            ("a\n", false), ("\u{0}", false),
        ])
    func form(_ key: String, _ isValid: Bool) {
        #expect((IdempotencyKey(scope: "s", key: key, requestDigest: []) != nil) == isValid)
    }
}
