package import CountersignWire
import Encodings
package import JOSE

/// Accepts the answer of a device of an app that was written for Cotter: a signed text, which is also what shows who
/// calls.
///
/// The text is made here, of the event that the request names, so that a signature of anything else is none. It names no
/// challenge; so one text decides one challenge, and no later one. The order of checks is that of ``AnswerByJWT``.
///
/// Spec: docs/protocol/jwk-devices.md, *Events*.
package enum AnswerByEvent {
    /// What a device sends.
    package struct Request: Sendable {
        /// The number of the event, by which it is answered.
        package let number: Int64
        /// The client.
        package let client: ClientID
        /// The client, as the app has written its id.
        package let writtenClient: String
        /// The user, as the app names them.
        package let user: String
        /// The device's key.
        package let key: JWSPublicKey
        /// The signature.
        package let signature: [UInt8]
        /// Whether it is approved.
        package let isApproved: Bool
        /// The caller's network.
        package let network: [UInt8]?

        /// A request of these parts.
        package init(
            number: Int64, client: ClientID, writtenClient: String, user: String, key: JWSPublicKey,
            signature: [UInt8], isApproved: Bool, network: [UInt8]?
        ) {
            self.number = number
            self.client = client
            self.writtenClient = writtenClient
            self.user = user
            self.key = key
            self.signature = signature
            self.isApproved = isApproved
            self.network = network
        }
    }

    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The event after the answer, which has decided it now or when it came before.
        case decided(ShownEvent)
        /// No device of the user has signed this event, or there is no such event: the caller cannot tell which.
        case notSigned
        /// The device is suspended or removed, or its signature has decided another event.
        case refused(DeviceRefusal)
        /// The event was not put to the device, or is over.
        case notFound
        /// The device, or this kind of answer, does not count for it.
        case invalid(AnswerFault)
        /// There were too many refused answers of the device, or wrong ones of the network.
        case rateLimited(retryAfter: Seconds)
    }

    /// Checks an answer and stores the result.
    ///
    /// - Throws: ``StoreError``.
    package static func answer(_ request: Request, ports: Ports) async throws -> Outcome {
        let now = ports.time.now
        let read: Read = try await ports.store.read { reader in
            if let wait = try reader.wait(of: request.network, at: now) { return .tooMany(wait) }
            return try Facts(request, ports.hasher, from: reader).map { Read.facts($0) } ?? .nothing
        }
        let facts: Facts
        switch read {
        case .tooMany(let wait): return .rateLimited(retryAfter: wait)
        case .facts(let found):
            let isSigned = request.key.isValid(
                derSignature: request.signature, for: Array(found.signed.text.utf8))
            if !isSigned { return try await notSigned(request, at: now, ports) }
            facts = found
        case .nothing: return try await notSigned(request, at: now, ports)
        }
        let enrollment = facts.enrollment
        let evidence = JSONValue.members([
            "event": .string(facts.signed.text), "signature": .string(Base64.encode(request.signature)),
        ])
        let digest = MessageDigest(of: evidence.encoded)
        let finding = facts.finding(evidence, at: now)
        let isOver = if case .ended = finding { true } else { false }
        // Another signature of the same text is no other answer.
        let once = facts.signed.once(by: enrollment.id)
        return try await ports.commit(at: now, as: .device(enrollment.id)) { work in
            if let refusal = try work.stores.refusal(of: enrollment.id, issuer: work.issuer) {
                return .refused(refusal)
            }
            let settling = SettleAnswer(id: facts.challenge, digest: digest, enrollment: enrollment, work: work)
            // Of one answer that comes twice at once the second waits here, and then finds what came of the first.
            // What comes too late is spent, too: it must not sign in by itself what was decided otherwise.
            let replay: DeviceRefusal? = if case .notFound = finding { nil } else { try work.spend(once) }
            if let recorded = try work.answers.find(by: enrollment.id, digest: digest) {
                guard recorded.challenge == facts.challenge else {
                    return try work.outcome(try settling.refuse(because: .otherChallenge), request, facts)
                }
                return try work.outcome(try settling.settle(.repeated(recorded)), request, facts)
            }
            // check: CotterEventTests.once
            guard replay == nil || isOver else { return .refused(.nonceReplayed) }
            return try work.outcome(try settling.settle(finding), request, facts)
        }
    }

    private static func notSigned(_ request: Request, at now: Timestamp, _ ports: Ports) async throws -> Outcome {
        try await FindEvent.countWrong(from: request.network, at: now, ports)
        return .notSigned
    }

    private enum Read: Sendable {
        case facts(Facts)
        case nothing
        case tooMany(Seconds)
    }

    /// The rows that are read before the answer is verified.
    fileprivate struct Facts: Sendable {
        /// The sign-in of an app; nil for what another call has asked.
        let signIn: AuthorizationID?
        let challenge: ChallengeID
        let event: AskedEvent
        let signed: SignedEvent
        let enrollment: Enrollment
        let keys: DeviceJWKs
        let answering: AnsweringFacts?
        let type: ChallengeType?

        /// The facts; nil if there is no such event, or no such device of the user.
        init?(_ request: Request, _ hasher: KeyedHasher, from reader: any Stores) throws {
            guard let thumbprint = Base64URL.decode(request.key.thumbprint),
                let device = try reader.enrollments.find(thumbprint: thumbprint),
                let enrollment = try reader.enrollments.find(device), let keys = enrollment.jwks,
                keys.form == .event,
                try reader.person(called: request.user, at: request.client, hasher) == enrollment.user,
                let asked = try Self.asked(request, enrollment.user, hasher, reader)
            else { return nil }
            let (challenge, event) = (asked.challenge, asked.event)
            signIn = asked.signIn
            self.challenge = challenge
            self.event = event
            signed = SignedEvent(
                user: request.user, client: request.writtenClient, name: event.name, timestamp: event.timestamp,
                isApproved: request.isApproved)
            self.enrollment = enrollment
            self.keys = keys
            // What is recorded of the same answer is read in the transaction.
            let answering = try reader.answers.answering(
                challenge, by: enrollment.id, digest: MessageDigest(of: Array(signed.text.utf8)))
            self.answering = answering
            type = try answering.flatMap { try reader.types.find($0.challenge.question.type) }
        }

        /// What the number of a request means; nil for nothing.
        private static func asked(
            _ request: Request, _ user: UserID, _ hasher: KeyedHasher, _ reader: any Stores
        ) throws -> (signIn: AuthorizationID?, challenge: ChallengeID, event: AskedEvent)? {
            guard let id = try reader.authorizations.find(userCode: hasher.hash(ofResponse: request.number)) else {
                let open = try reader.challenges.open(of: user).first {
                    hasher.responseNumber(of: $0.id) == request.number && $0.question.client == request.client
                }
                guard let open, let event = AskedEvent(open, user: request.user, client: request.writtenClient) else {
                    return nil
                }
                return (nil, open.id, event)
            }
            guard let found = try reader.authorizations.find(id), found.client == request.client,
                let event = found.wanted.device?.event, let challenge = found.ask?.challenge
            else { return nil }
            return (id, challenge, event)
        }

        /// Makes checks 2 to 7.
        func finding(_ evidence: JSONValue, at now: Timestamp) -> AnswerChallenge.Finding {
            guard let answering, answering.isTarget, answering.challenge.user == enrollment.user else {
                return .notFound
            }
            let challenge = answering.challenge
            guard challenge.isOpen(at: now) else { return .ended(challenge) }
            return .judged(challenge, verdict(on: challenge, evidence, at: now))
        }

        private func verdict(on challenge: Challenge, _ evidence: JSONValue, at now: Timestamp) -> AnswerVerdict {
            guard let type else { return .invalid(.credential) }
            // check: CotterEventTests.assurance
            guard type.assurance == .event && enrollment.satisfies(type) && !challenge.needsReceipt else {
                return .invalid(.credential)
            }
            if signed.isApproved {
                guard
                    challenge.methods.contains(.confirm) && enrollment.isLetIn(at: now)
                        && enrollment.counts(.confirm, at: now)
                else { return .invalid(.method) }
            }
            return .verified(
                VerifiedAnswer(
                    decision: signed.isApproved ? .approved(.confirm, number: nil) : .denied, answeredAt: now,
                    evidence: .event(evidence.text, keys: keys.json.encoded)))
        }
    }
}

extension UnitOfWork {
    /// The outcome of a signed event for that of the steps that all answers share.
    fileprivate func outcome(
        _ outcome: AnswerChallenge.Outcome, _ request: AnswerByEvent.Request, _ facts: AnswerByEvent.Facts
    ) throws -> AnswerByEvent.Outcome {
        switch outcome {
        case .decided, .alreadyEnded:
            guard let signIn = facts.signIn else {
                guard let challenge = try challenges.find(facts.challenge) else { return .notFound }
                return .decided(ShownEvent(challenge, facts.event, number: request.number))
            }
            guard let found = try authorizations.find(signIn),
                let shown = ShownEvent(found, number: request.number, at: now)
            else { return .notFound }
            return .decided(shown)
        case .refused(let refusal): return .refused(refusal)
        case .notFound: return .notFound
        case .invalid(let fault): return .invalid(fault)
        case .rateLimited(let seconds): return .rateLimited(retryAfter: seconds)
        // Such a device has neither a PIN nor a custom authenticator.
        case .pinIncorrect, .pinLocked, .customRetry, .customFailed, .customNotRegistered, .customUnavailable:
            return .invalid(.method)
        }
    }
}
