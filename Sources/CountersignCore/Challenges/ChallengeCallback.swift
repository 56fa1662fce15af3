import CountersignWire
import Encodings

extension Challenge {
    /// The callback that tells the client how the challenge ended; nil when it asked for none.
    func callback(ended outcome: ChallengeOutcome, id event: EventID, at now: Timestamp) -> OutboxMessage? {
        guard let uri = callbackURI else { return nil }
        let body =
            switch callbackForm {
            case .native: nativeCallback(ended: outcome, at: now)
            // Spec: docs/decisions/0105-vendors-doors.md.
            case .oneWelcome:
                JSONValue.members([
                    "callback_uri": .string(uri.description), "transaction_id": .string(id.uuid),
                ])
            }
        return OutboxMessage(
            id: event, content: .callback(uri, client: question.client, body: body.encoded), dueAt: now,
            expiresAt: now.adding(OutboxMessage.lifetime))
    }

    private func nativeCallback(ended outcome: ChallengeOutcome, at now: Timestamp) -> JSONValue {
        .members([
            "type": .string("challenge.\(outcome.state)"),
            "timestamp": .string("\(now)"),
            "challenge": .members([
                "id": .string("\(id)"), "state": .string(outcome.state),
                "reason": outcome.reason.map(JSONValue.string),
                "method": outcome.method.map(JSONValue.string),
                "user": user.map { .string("\($0)") },
                "client_state": clientState.map(JSONValue.string),
                "ended_at": .string("\(now)"),
            ]),
        ])
    }
}
