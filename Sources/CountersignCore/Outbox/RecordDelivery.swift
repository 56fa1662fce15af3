package import CountersignWire

/// Records the results of attempts to deliver.
package enum RecordDelivery {
    /// Records results in the outbox, and also the states of pushes, push registrations and receivers.
    ///
    /// - Parameters:
    ///   - attempts: the ended attempts.
    ///   - now: the current time.
    ///   - ports: the external dependencies.
    /// - Returns: the states of the messages, without those that somebody else had settled before.
    /// - Throws: ``StoreError``.
    package static func record(
        _ attempts: [EndedAttempt], at now: Timestamp, ports: Ports
    ) async throws -> [EventID: Settlement] {
        try await ports.commit(at: now, as: .system) { try $0.recordDelivery(attempts) }
    }
}

extension UnitOfWork {
    fileprivate func recordDelivery(_ attempts: [EndedAttempt]) throws -> [EventID: Settlement] {
        var settlements: [EventID: Settlement] = [:]
        for attempt in attempts { settlements[attempt.message.id] = try settlement(of: attempt) }
        let settled = try outbox.settle(settlements, at: now)
        // The results of messages that somebody else had settled before are dropped.
        settlements = settlements.filter { settled.contains($0.key) }
        for attempt in attempts {
            if let settlement = settlements[attempt.message.id] { try recordSettlement(settlement, of: attempt) }
        }
        return settlements
    }

    private func recordSettlement(_ settlement: Settlement, of attempt: EndedAttempt) throws {
        // A task that waits for the end of the lease must look at the new due time.
        if case .retried = settlement { notify(.outbox(attempt.message.content.kind)) }
        let outcome = attempt.outcome
        switch attempt.message.content {
        case .callback(let receiver, let client, _), .notice(let receiver, let client, _),
            .hook(let receiver, let client, _):
            if case .recovered = outcome { try receivers.forgetGone(receiver, of: client) }
        case .push(let challenge, let enrollment, _):
            if case .unregistered(_, let target) = outcome { try pushes.delete(target, of: enrollment) }
            try pushes.record(PushDelivery(settlement), of: challenge, to: enrollment, at: now)
        case .withdrawal(_, let enrollment, _):
            if case .unregistered(_, let target) = outcome { try pushes.delete(target, of: enrollment) }
        case .backchannel(_, let client, let authorization, .decided):
            guard case .abandoned = settlement else { return }
            // check: TellBackchannelTests.lostResult
            guard attempt.isUndelivered else { return }
            try raise(.backchannelGivenUp(authorization, client))
        case .personal, .logout, .backchannel, .signInCode, .signIn: break
        }
    }

    private func settlement(of attempt: EndedAttempt) throws -> Settlement {
        switch attempt.outcome {
        case .delivered, .recovered: return .delivered
        case .retried(let reason, let retryAt): return .retried(reason, at: retryAt)
        case .abandoned(let reason), .unregistered(let reason, _): return .abandoned(reason)
        case .gone(let reason, let retryAt):
            let content = attempt.message.content
            if let receiver = content.posted?.uri, try receivers.countGone(receiver, of: content.client, at: now) {
                return .abandoned(GoneReceiver.reason)
            }
            return retryAt.map { .retried(reason, at: $0) } ?? .abandoned(reason)
        }
    }
}

extension PushDelivery {
    /// The delivery state of a push after an attempt.
    fileprivate init(_ settlement: Settlement) {
        switch settlement {
        case .delivered: self = .accepted
        case .retried(let failure, _): self = .queued(lastFailure: failure)
        case .abandoned(let reason): self = .failed(reason: reason)
        }
    }
}
