import Encodings
import Testing

/// What must hold in the end, whatever happened to the server.
extension Scene {
    /// The time limit for the last callbacks to arrive, and for the outbox to become empty.
    private static let patience = Duration.seconds(120)

    /// Waits until every callback has arrived and the outbox is empty.
    ///
    /// - Parameter outbox: returns the number of messages in a state.
    func settle(outbox: @escaping @Sendable (String) throws -> Int) async throws {
        let arrival = receiver.arrival(of: await ledger.asked.keys)
        let isSettled = try await withThrowingTaskGroup { group in
            group.addTask {
                await arrival.wait()
                // Nothing reports that the outbox is empty, so this is polled.
                while try outbox("waiting") > 0 { try await Task.sleep(for: .milliseconds(50)) }
                return true
            }
            group.addTask {
                try await Task.sleep(for: Self.patience)
                // Ends the other task, whose wait ignores cancellation.
                arrival.happen()
                return false
            }
            let first = try await group.next() ?? false
            group.cancelAll()
            return first
        }
        #expect(isSettled, "no callback for \(receiver.missing.sorted())")
        #expect(try outbox("dead") == 0)
    }

    /// Checks that nothing acknowledged is lost, that nothing ended twice, and that every end was told once and to all
    /// alike.
    func verify(_ settings: KillSettings) async {
        let asked = await ledger.asked
        let ends = await ledger.ends
        for violation in await ledger.violations { Issue.record("\(violation); COUNTERSIGN_SEED=\(settings.seed)") }
        #expect(receiver.violations == [])
        #expect(!asked.isEmpty)
        #expect(await ledger.answers > 0)
        #expect(await ledger.returns >= ledger.lostReturns, "most links are followed to their end")
        let byPhrase = asked.values.filter { $0.plan == .custom && ends[$0.id] == .approved }
        #expect(receiver.judged.isSuperset(of: byPhrase.map(\.id)), "nothing is approved by a hook that was not asked")
        #expect(Set(ends.keys) == Set(asked.keys), "every challenge has ended, and none that nobody asked")
        let callbacks = receiver.callbacks
        #expect(Set(callbacks.keys) == Set(asked.keys), "every end has a callback, and none is made up")
        var ids: Set<String> = []
        for (challenge, distinct) in callbacks {
            #expect(distinct.count == 1, "one id and one body for \(challenge): \(distinct.map(\.id))")
            for callback in distinct {
                #expect(ids.insert(callback.id).inserted, "\(callback.id) is the id of two callbacks")
                #expect(callback.toldEnd == ends[challenge], "\(challenge): \(callback)")
            }
        }
    }
}

extension CallbackReceiver.Callback {
    /// The end of the challenge that the callback reports.
    fileprivate var toldEnd: ToldEnd? {
        guard let challenge = try? JSONValue(parsing: body)["challenge"], let state = challenge["state"]?.string else {
            return nil
        }
        return ToldEnd(state: state, reason: challenge["reason"]?.string)
    }
}
