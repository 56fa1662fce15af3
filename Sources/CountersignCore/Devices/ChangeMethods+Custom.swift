import CountersignWire
import Encodings

/// The registration of custom authenticators, which the hooks of clients judge.
extension ChangeMethods {
    /// A registration that has passed all checks except the one of the hook.
    struct Registration: Sendable {
        let change: AuthenticatorChange
        /// The SHA-256 hash of the sealed data.
        let dataHash: [UInt8]
        let data: CustomData
        /// The method that has signed the registration besides the primary key; nil if none has.
        let signedBy: AnswerMethod?
    }

    /// Checks, before the hook is asked, whether a registration is authorized.
    ///
    /// The nonce is spent only after the hook has answered, and a ticket only after the hook has accepted. Until then
    /// the device may send the same registration again.
    ///
    /// - Parameters:
    ///   - registration: the registration.
    ///   - ticket: the secret of a ticket; nil if the device sent none.
    ///   - enrollment: the enrollment of the device.
    ///   - work: the transaction, which holds the lock of the enrollment.
    static func begin(
        _ registration: Registration, _ ticket: Secret<String>?, of enrollment: Enrollment, in work: UnitOfWork
    ) throws -> Step {
        let nonce = registration.change.header.nonce
        if enrollment.needsTicket(for: .custom(registration.change), signedBy: registration.signedBy, at: work.now) {
            switch try authority(ticket, for: enrollment, in: work) {
            case .ticket: break
            case .none: return .ended(.notAuthorized(needs: .ticket))
            case .blocked: return .ended(.blocked)
            }
        }
        // Every registration counts towards the limit, because each is a guess at what the hook checks.
        if let seconds = try work.countRefused(.registration, of: enrollment.id) {
            return .ended(.rateLimited(retryAfter: seconds))
        }
        if try work.nonces.isSpent(nonce: "\(nonce)", of: nonceKey(enrollment)) {
            return .ended(try refuse(enrollment, "nonce", in: work))
        }
        let id = "\(enrollment.id).\(nonce).\(Hex.encode(registration.dataHash).prefix(32))"
        let question = try work.hookQuestion(
            .register, registration.change.name, registration.data, of: enrollment, id: id)
        return question.map { .asking($0, registration) } ?? .ended(.customNotRegistered)
    }

    /// Asks the hook outside of any transaction, and then applies its verdict in a new one.
    static func register(
        _ registration: Registration, _ ticket: Secret<String>?, _ repeated: IdempotencyKey,
        by enrollment: Enrollment, asking question: HookQuestion, ports: Ports
    ) async throws -> Outcome {
        let name = registration.change.name
        guard let verdict = await ports.hooks.ask(question) else { return .customUnavailable }
        let now = ports.time.now
        return try await ports.commit(at: now, as: .device(enrollment.id)) { work in
            try work.users.lock(enrollment.user)
            try work.enrollments.lock(enrollment.id)
            if let refusal = try work.stores.refusal(of: enrollment.id, issuer: work.issuer) {
                return .refused(refusal)
            }
            // The device may have sent the same registration twice, and the other request was faster.
            if let earlier = try outcome(ofEarlier: repeated, enrollment, in: work) { return earlier }
            guard try spend(registration.change.header.nonce, of: enrollment, in: work) else {
                return try refuse(enrollment, "nonce", in: work)
            }
            guard verdict.result == .ok else {
                try work.raise(
                    .customAnswered(name, CustomResult(verdict: verdict.result), to: nil, by: enrollment))
                try work.replies.insert(KeptChange.judged(verdict).kept, for: repeated, at: work.now)
                return Outcome(verdict)
            }
            let countsFrom: Timestamp
            switch try permit(
                .custom(registration.change), nil, ticket, signedBy: registration.signedBy, of: enrollment, in: work)
            {
            case .granted(let time): countsFrom = time
            case .refused(let outcome): return outcome
            }
            guard let current = try work.enrollments.find(enrollment.id) else {
                throw StoreError.corruptRow("enrollment")
            }
            let kind: MethodEvent.Change = current.customs[name] == nil ? .set : .replaced
            let registered = EnrolledCustom(countsFrom: countsFrom)
            try work.methods.put(current.customs.merging([name: registered]) { $1 }, of: enrollment.id)
            return try conclude(
                .custom(name), kind, countsFrom: countsFrom, by: verdict, repeated, of: enrollment, in: work)
        }
    }
}

extension ChangeMethods.Outcome {
    /// The outcome of a registration for the verdict of the hook.
    init(_ verdict: HookVerdict) {
        switch verdict.result {
        case .ok: self = .changed(payload: verdict.payload)
        case .retry: self = .customRetry(payload: verdict.payload)
        case .fail: self = .customFailed(payload: verdict.payload)
        case .notRegistered: self = .customNotRegistered
        }
    }
}

extension Stores {
    /// The custom authenticators of an enrollment, each with whether it is registered.
    ///
    /// These are the ones that its client offers now, and the registered ones that the client no longer offers.
    func customs(of enrollment: Enrollment) throws -> [AuthenticatorName: Bool] {
        let offered = try clients.find(enrollment.client)?.authenticators.map(\.name) ?? []
        let all = Set(offered).union(enrollment.customs.keys)
        return Dictionary(uniqueKeysWithValues: all.map { ($0, enrollment.customs[$0] != nil) })
    }
}
