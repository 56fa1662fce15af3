import Logging
import ServerTestSupport
import Synchronization
import Testing

@testable import KeycloakChannel

@Suite("The keys of a realm of Keycloak's")
struct KeycloakKeysTests {
    @Test("Keys that the realm no longer tells are believed for five minutes, however often it is asked in vain")
    func age() async throws {
        let start = ContinuousClock.now
        let (isAway, age) = (Away(), Age())
        try await FakeKeycloak.with(hidingKeys: { isAway.value.withLock { $0 } }) { fake in
            let realm = Keycloak(
                realm: fake.issuer, client: TestHTTP.client, logger: Logger(label: "keycloak"),
                now: { start + age.value.withLock { $0 } })
            _ = try await realm.token(try await fake.token())
            isAway.value.withLock { $0 = true }
            age.value.withLock { $0 = .seconds(299) }
            _ = try await realm.token(try await fake.token())
            // The first attempt, while it is the latest one, and another one.
            for seconds in [301, 302, 320] {
                age.value.withLock { $0 = .seconds(seconds) }
                await #expect(throws: Keycloak.Unreachable.self) { _ = try await realm.token(try await fake.token()) }
            }
            isAway.value.withLock { $0 = false }
            age.value.withLock { $0 = .seconds(331) }
            _ = try await realm.token(try await fake.token())
        }
    }

    /// Whether the realm's keys cannot be read.
    private final class Away: Sendable { let value = Mutex(false) }

    /// How much later it is.
    private final class Age: Sendable { let value = Mutex(Duration.zero) }
}
