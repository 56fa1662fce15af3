package import CountersignWire

/// The code of a challenge, as it is shown for a while.
package struct ShownCode: Equatable, Sendable {
    /// The code.
    package let code: ChallengeCode
    /// Whether it travels as a link that is opened on the device itself, and not as a picture.
    package var isLink: Bool { code.form == .link }
    /// When its one-time password ceases to work: another must be shown by then.
    package let expiresAt: Timestamp

    /// The code of a challenge at a time; nil where there is none to be presented.
    init?(of challenge: Challenge, at now: Timestamp, _ hasher: KeyedHasher) {
        guard case .code(.awaited, _) = challenge.channel, let form = challenge.channel.form else { return nil }
        code = ChallengeCode(
            challenge: challenge.id, otp: hasher.otp(of: challenge.id, as: form, at: now), form: form)
        expiresAt = min(now.adding(seconds: ChallengeCode.lifetime), challenge.expiresAt)
    }
}

/// Shows a client the code of its challenge, made anew each time.
package enum ShowCode {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The code.
        case code(ShownCode)
        /// A device has presented it.
        case alreadyClaimed
        /// The challenge has ended.
        case alreadyEnded(ChallengeStatus)
        /// The challenge was put to devices and has no code.
        case noCode
        /// The client has no such challenge.
        case notFound
    }

    /// The code of a client's challenge, as it is shown now.
    package static func code(of id: ChallengeID, to caller: ClientCaller, ports: Ports) async throws -> Outcome {
        let challenge = try await ports.store.read { try $0.challenges.find(id) }
        guard let challenge, challenge.isShown(to: caller.client.id) else { return .notFound }
        guard challenge.channel.kind == .code else { return .noCode }
        let now = ports.time.now
        guard !challenge.state.isEnded, now < challenge.expiresAt else {
            return try await ports.commit(at: now, as: caller.actor) { work in
                guard let challenge = try work.challenges.find(id) else { return .notFound }
                return .alreadyEnded(try work.endedStatus(of: challenge) ?? challenge.state.status)
            }
        }
        return ShownCode(of: challenge, at: now, ports.hasher).map(Outcome.code) ?? .alreadyClaimed
    }
}
