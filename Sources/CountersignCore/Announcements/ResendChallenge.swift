package import CountersignWire

/// Announces a challenge again to its devices that have a push registration.
///
/// Spec: docs/protocol/relying-party.md, *The challenge*.
package enum ResendChallenge {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The announcements are queued; the challenge with its deliveries.
        case resent(WatchChallenge.Shown)
        /// The challenge has ended.
        case alreadyEnded(ChallengeStatus)
        /// The client has no such challenge.
        case notFound
        /// The challenge was resent as often as its type allows, or its code was sent by text message.
        case tooMany
        /// The user has reported another challenge of this client.
        case reported
    }

    /// Announces a client's challenge again.
    ///
    /// A push that is still queued is not repeated. The limit is the current one of the challenge's type.
    ///
    /// - Parameters:
    ///   - id: the challenge.
    ///   - caller: the client, which must be the client of the challenge.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func resend(_ id: ChallengeID, by caller: ClientCaller, ports: Ports) async throws -> Outcome {
        let now = ports.time.now
        return try await ports.commit(at: now, as: caller.actor) { work in
            guard let challenge = try work.challenges.find(id), challenge.isShown(to: caller.client.id) else {
                return .notFound
            }
            if let status = try work.endedStatus(of: challenge) { return .alreadyEnded(status) }
            // Neither the sent code nor the telephone number is stored.
            guard challenge.channel != .text else { return .tooMany }
            if let user = challenge.user, try work.askingLocks.exists(of: user, by: caller.client.id) {
                return .reported
            }
            let limit = try work.types.find(challenge.question.type)?.maximumResends ?? 0
            guard try !work.count(.resends(id, maximum: limit)).isExceeded else { return .tooMany }
            for delivery in try work.targets.deliveries(of: id) {
                if case .queued? = delivery.push?.delivery { continue }
                guard let enrollment = try work.enrollments.find(delivery.enrollment), case .active = enrollment.state,
                    enrollment.push != nil
                else { continue }
                try work.announce(challenge, to: enrollment.id)
            }
            return .resent(
                WatchChallenge.Shown(
                    challenge: challenge, deliveries: try work.targets.deliveries(of: id), receipt: nil))
        }
    }
}
