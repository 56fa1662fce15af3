public import CountersignWire

extension StoreWriter {
    /// Notes what came of an attempt to deliver: in the outbox, and where what was sent has a place of its own, there.
    ///
    /// - Returns: where the message stands now; nil when somebody else had settled it before.
    public func conclude(
        _ message: OutboxMessage, as outcome: DeliveryOutcome, at now: Timestamp
    ) throws -> Settlement? {
        let settlement = try settlement(of: message, as: outcome, at: now)
        // Whoever comes too late has nothing to tell.
        guard try settle(message.id, as: settlement, at: now) else { return nil }
        // Whoever waits for the end of the lease looks for the new time.
        if case .retried = settlement { wake(.outbox) }
        switch message.content {
        case .callback(let receiver, let client, _):
            if case .recovered = outcome { try forgetGone(receiver, of: client) }
        case .push(let challenge, let enrollment, _):
            if case .unregistered(_, let target) = outcome { try remove(target, of: enrollment) }
            try note(PushDelivery(settlement), of: challenge, to: enrollment, at: now)
        case .withdrawal(_, let enrollment, _):
            if case .unregistered(_, let target) = outcome { try remove(target, of: enrollment) }
        case .personal: break
        }
        return settlement
    }

    private func settlement(
        of message: OutboxMessage, as outcome: DeliveryOutcome, at now: Timestamp
    ) throws -> Settlement {
        switch outcome {
        case .delivered, .recovered: return .delivered
        case .retried(let reason, let retryAt): return .retried(reason, at: retryAt)
        case .abandoned(let reason), .unregistered(let reason, _): return .abandoned(reason)
        case .gone(let reason, let retryAt):
            if case .callback(let receiver, let client, _) = message.content,
                try noteGone(receiver, of: client, at: now)
            {
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
