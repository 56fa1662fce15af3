import CountersignCore
import CountersignWire
import Encodings

extension ShownCode {
    /// What a page makes a QR code of, or a link to be followed, and until when it works.
    func json(_ issuer: Issuer) -> JSONValue {
        let (name, text) = isLink ? ("link", code.link(to: issuer)) : ("qr", code.text)
        return .members([name: .string(text), "expires_at": .string("\(expiresAt)")])
    }
}

extension Challenge {
    /// How it may be answered, by the words of the API.
    private var methodNames: [String] {
        switch channel {
        case .text: [ChallengeOutcome.enteredMethod]
        case .devices, .code: methods.map(\.rawValue)
        }
    }

    /// The challenge as its client sees it.
    var json: JSONValue {
        let status = state.status
        var method: String?
        var endedAt: Timestamp?
        if case .ended(let outcome, let time) = state {
            method = outcome.method
            endedAt = time
        }
        return .members([
            "id": .string("\(id)"), "state": .string(status.state), "reason": status.reason.map(JSONValue.string),
            "method": method.map(JSONValue.string), "type": .string("\(question.type)"),
            "user": user.map { .string("\($0)") }, "methods": .array(methodNames.map(JSONValue.string)),
            "asked_at": .string("\(question.askedAt)"), "expires_at": .string("\(expiresAt)"),
            "claimed_at": channel.claimedAt.map { .string("\($0)") }, "ended_at": endedAt.map { .string("\($0)") },
            "client_state": clientState.map(JSONValue.string),
        ])
    }
}

extension WatchChallenge.Shown {
    /// The challenge, and how the devices heard of it.
    var json: JSONValue {
        var object = challenge.json.object ?? [:]
        object["deliveries"] = .array(deliveries.map(\.json))
        return .object(object)
    }
}

extension Delivery {
    fileprivate var json: JSONValue {
        .members([
            "enrollment": .string("\(enrollment)"), "push": push.map { Self.json($0.delivery, at: $0.at) },
            "fetched_at": fetchedAt.map { .string("\($0)") },
        ])
    }

    private static func json(_ delivery: PushDelivery, at time: Timestamp) -> JSONValue {
        let (state, reason) = delivery.words
        return .members([
            "state": .string(state), "reason": reason.map(JSONValue.string), "at": .string("\(time)"),
        ])
    }
}

extension AskedChallenge {
    /// The reply to asking: the one time the number is told.
    func json(_ issuer: Issuer) -> JSONValue {
        var object = challenge.json.object ?? [:]
        object["number"] = number.map { .string($0.digits) }
        object["code"] = code?.json(issuer)
        object["enrollments"] = .array(enrollments.map { .string("\($0)") })
        return .object(object)
    }
}
