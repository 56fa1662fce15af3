import CountersignWire
import Encodings

/// The registration of custom authenticators, which a client's hook judges.
extension ChangeMethods {
    /// A registration of which all is good but what the hook has to judge.
    struct Registration: Sendable {
        let change: SignedChange
        let name: AuthenticatorName
        let data: CustomData
        /// The method that has signed it, too.
        let signedBy: AnswerMethod?
    }

    /// Looks whether a registration is authorized before the hook is asked; its nonce and a ticket are spent when the
    /// hook has said something, so that the same registration may come again until then.
    static func begin(
        _ registration: Registration, _ ticket: Secret<String>?, of enrollment: Enrollment, in work: UnitOfWork
    ) throws -> Step {
        let (change, nonce) = (registration.change, registration.change.header.nonce)
        if enrollment.needsTicket(for: change, signedBy: registration.signedBy, at: work.now) {
            switch try authority(ticket, for: enrollment, in: work) {
            case .ticket: break
            case .none: return .ended(.notAuthorized(needs: .ticket))
            case .blocked: return .ended(.blocked)
            }
        }
        // Each is a guess at whatever the hook asks for.
        if let seconds = try work.countRefused(.registration, of: enrollment.id) {
            return .ended(.rateLimited(retryAfter: seconds))
        }
        if try work.nonces.isSpent(nonce: "\(nonce)", of: nonceKey(enrollment)) {
            return .ended(try refuse(enrollment, "nonce", in: work))
        }
        let question = try work.hookQuestion(
            .register, registration.name, registration.data, of: enrollment, id: "\(enrollment.id).\(nonce)")
        return question.map { .asking($0, registration) } ?? .ended(.customNotRegistered)
    }

    /// Asks the hook, outside any transaction, and makes its verdict count.
    static func register(
        _ registration: Registration, _ ticket: Secret<String>?, _ repeated: IdempotencyKey, _ call: DeviceCall,
        asking question: HookQuestion, ports: Ports
    ) async throws -> Outcome {
        let name = registration.name
        let enrollment = call.enrollment
        guard let verdict = await ports.hooks.ask(question) else { return .customUnavailable }
        let now = ports.time.now
        return try await ports.commit(at: now, as: call.actor) { work in
            try work.users.lock(enrollment.user)
            try work.enrollments.lock(enrollment.id)
            if let refusal = try work.stores.refusal(of: enrollment.id, issuer: work.issuer) {
                return .refused(refusal)
            }
            // The same registration came again meanwhile, and was faster.
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
            let permit = try permit(
                registration.change, nil, ticket, signedBy: registration.signedBy, of: enrollment, in: work)
            guard case .granted(let countsFrom) = permit else { return permit.refusal }
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
    /// What a registration came to of which a hook says this.
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
    /// The custom authenticators of an enrollment's client, and whether each is registered.
    func customs(of enrollment: Enrollment) throws -> [AuthenticatorName: Bool] {
        let offered = try clients.find(enrollment.client)?.authenticators.map(\.name) ?? []
        let all = Set(offered).union(enrollment.customs.keys)
        return Dictionary(uniqueKeysWithValues: all.map { ($0, enrollment.customs[$0] != nil) })
    }
}
