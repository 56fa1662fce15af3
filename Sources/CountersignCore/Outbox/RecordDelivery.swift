package import CountersignWire

/// Records what came of attempts to deliver.
package enum RecordDelivery {
    /// Records it in the outbox, and where what was sent has a place of its own, there.
    ///
    /// - Parameters:
    ///   - attempts: those that have ended.
    ///   - now: when.
    ///   - ports: the external dependencies.
    /// - Returns: where the messages stand now, without those that somebody else had settled before.
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
        // Whoever comes too late has nothing to tell.
        settlements = settlements.filter { settled.contains($0.key) }
        for attempt in attempts {
            if let settlement = settlements[attempt.message.id] { try recordSettlement(settlement, of: attempt) }
        }
        return settlements
    }

    private func recordSettlement(_ settlement: Settlement, of attempt: EndedAttempt) throws {
        // Whoever waits for the end of the lease looks for the new time.
        if case .retried = settlement { notify(.outbox) }
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
        case .personal: break
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
    /// What is told of a push that stands so.
    fileprivate init(_ settlement: Settlement) {
        switch settlement {
        case .delivered: self = .accepted
        case .retried(let failure, _): self = .queued(lastFailure: failure)
        case .abandoned(let reason): self = .failed(reason: reason)
        }
    }
}
