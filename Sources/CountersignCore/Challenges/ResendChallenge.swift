public import CountersignWire

/// Announces a challenge again to the devices that push reaches.
///
/// Spec: design 4.
public enum ResendChallenge {
    /// What came of it.
    public enum Outcome: Sendable {
        /// It is on its way; how each device stands.
        case resent(WatchChallenge.Shown)
        /// It has ended.
        case alreadyEnded(ChallengeStanding)
        /// The client has no such challenge.
        case notFound
        /// Its type allows no more of it.
        case tooMany
        /// The user has reported another question of this client.
        case reported
    }

    /// For how long resends of a challenge count, in seconds: as long as one may live.
    private static let window: Int64 = 86_400

    /// Announces a client's challenge again; a push that is still on its way is left to it.
    ///
    /// The limit is the type's as it is now.
    public static func resend(_ id: ChallengeID, by client: ClientID, ports: Ports) async throws -> Outcome {
        let now = ports.time.now
        let messages = EventIDs(ports, at: now)
        return try await ports.store.commit { writer in
            guard let challenge = try writer.challenge(id), challenge.question.client == client else {
                return .notFound
            }
            guard !challenge.state.isEnded, now < challenge.expiresAt else {
                return .alreadyEnded(challenge.standing(at: now))
            }
            // What was sent is not kept, nor where to.
            guard !challenge.isText else { return .tooMany }
            if let user = challenge.user, try writer.isAskingLocked(of: user, by: client) { return .reported }
            let limit = try writer.challengeType(challenge.question.type)?.maximumResends ?? 0
            guard try writer.countAttempt("resend \(id)", window: window, at: now).number <= limit else {
                return .tooMany
            }
            for delivery in try writer.deliveries(of: id) {
                if case .queued? = delivery.push?.delivery { continue }
                guard let enrollment = try writer.enrollment(delivery.enrollment), case .active = enrollment.state,
                    enrollment.push != nil
                else { continue }
                try writer.announce(challenge, to: enrollment.id, as: messages.next(), at: now)
            }
            return .resent(
                WatchChallenge.Shown(challenge: challenge, deliveries: try writer.deliveries(of: id)))
        }
    }
}
