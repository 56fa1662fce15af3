public import CountersignWire

extension StoreWriter {
    /// Notes what came of an attempt to deliver: in the outbox, and where what was sent has a place of its own, there.
    public func conclude(_ message: OutboxMessage, as outcome: DeliveryOutcome, at now: Timestamp) throws {
        // Whoever waits for the end of the lease looks for the new time.
        switch outcome {
        case .retried, .gone: wake(.outbox)
        case .delivered, .abandoned, .unregistered: break
        }
        switch message.content {
        case .callback(let receiver, let client, _):
            try conclude(message.id, to: receiver, of: client, as: outcome, at: now)
        case .push(let challenge, let enrollment, _):
            // Whoever comes too late has nothing to tell.
            guard try settle(message.id, as: outcome, at: now) else { return }
            let delivery: PushDelivery
            switch outcome {
            case .delivered: delivery = .accepted
            case .retried(let failure, _): delivery = .queued(lastFailure: failure)
            case .abandoned(let reason), .gone(let reason, _): delivery = .failed(reason: reason)
            case .unregistered(let reason, let target):
                delivery = .failed(reason: reason)
                try remove(target, of: enrollment)
            }
            try note(delivery, of: challenge, to: enrollment, at: now)
        }
    }

    private func conclude(
        _ message: EventID, to receiver: CallbackURI, of client: ClientID, as outcome: DeliveryOutcome,
        at now: Timestamp
    ) throws {
        switch outcome {
        case .gone(let reason, let retryAt):
            let isGone = try noteGone(receiver, of: client, at: now)
            let next: DeliveryOutcome =
                if isGone { .abandoned(GoneReceiver.reason) } else if let retryAt {
                    .retried(reason, at: retryAt)
                } else { .abandoned(reason) }
            _ = try settle(message, as: next, at: now)
        case .delivered:
            if try settle(message, as: outcome, at: now) { try forgetGone(receiver, of: client) }
        case .retried, .abandoned, .unregistered:
            _ = try settle(message, as: outcome, at: now)
        }
    }
}
