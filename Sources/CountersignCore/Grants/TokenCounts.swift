import Synchronization

/// Counts what happens to tokens too often for the audit, which has the tokens that are given and that end.
package final class TokenCounts: Sendable {
    private let refreshCount = Atomic<Int>(0)
    private let introspectionCount = Atomic<Int>(0)

    /// How often a refresh token was taken.
    package var refreshes: Int { refreshCount.load(ordering: .relaxed) }
    /// How often somebody asked whether a token is good.
    package var introspections: Int { introspectionCount.load(ordering: .relaxed) }

    func noteRefresh() { refreshCount.add(1, ordering: .relaxed) }
    func noteIntrospection() { introspectionCount.add(1, ordering: .relaxed) }
}
