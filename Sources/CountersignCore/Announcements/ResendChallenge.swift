package import CountersignWire

/// Announces a challenge again to the devices that push reaches.
///
/// Spec: design 4.
package enum ResendChallenge {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// It is on its way; the challenge, with what is known of each device.
        case resent(WatchChallenge.Shown)
        /// It has ended.
        case alreadyEnded(ChallengeStatus)
        /// The client has no such challenge.
        case notFound
        /// It was resent as often as its type allows.
        case tooMany
        /// The user has reported another question of this client.
        case reported
    }

    /// Announces a client's challenge again; a push that is still on its way is left to it.
    ///
    /// The limit is the type's as it is now.
    package static func resend(_ id: ChallengeID, by caller: ClientCaller, ports: Ports) async throws -> Outcome {
        let now = ports.time.now
        return try await ports.commit(at: now, as: caller.actor) { work in
            guard let challenge = try work.challenges.find(id), challenge.question.client == caller.client.id else {
                return .notFound
            }
            if let status = try work.endedStatus(of: challenge) { return .alreadyEnded(status) }
            // What was sent is not kept, nor where to.
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
                WatchChallenge.Shown(challenge: challenge, deliveries: try work.targets.deliveries(of: id)))
        }
    }
}
