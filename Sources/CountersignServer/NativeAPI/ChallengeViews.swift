import CountersignCore
import CountersignWire
import Encodings
import RelyingPartyAPI

extension ShownCode {
    /// What a page makes a QR code of, or a link to be followed, and until when it works.
    func view(_ issuer: Issuer) -> CodeView {
        CodeView(isLink ? .link(code.link(to: issuer)) : .qr(code.text), expiresAt: expiresAt)
    }
}

extension ShownChallenge {
    /// How it may be answered, by the words of the API.
    private var methodNames: [String] {
        methods.isEmpty ? [ChallengeOutcome.enteredMethod] : methods.map(\.rawValue)
    }

    /// The challenge by the words of the API.
    var view: ChallengeView {
        var method: String?
        var endedAt: Timestamp?
        if case .ended(let outcome, let time) = state {
            method = outcome.method
            endedAt = time
        }
        return ChallengeView(
            id: id, status: state.status, method: method, type: type, user: user, methods: methodNames,
            askedAt: askedAt, expiresAt: expiresAt, claimedAt: claimedAt, endedAt: endedAt, clientState: clientState)
    }
}

extension Challenge {
    /// The challenge as its client sees it.
    var view: ChallengeView { ShownChallenge(self).view }

    /// The challenge as its client sees it.
    var json: JSONValue { view.json }
}

extension WatchChallenge.Shown {
    /// The challenge, and how the devices heard of it.
    var json: JSONValue {
        var view = challenge.view
        view.deliveries = deliveries.map(\.view)
        return view.json
    }
}

extension Delivery {
    fileprivate var view: DeliveryView {
        DeliveryView(
            enrollment: enrollment,
            push: push.map { push in
                let (state, reason) = push.delivery.words
                return DeliveryView.Push(state: state, reason: reason, at: push.at)
            }, fetchedAt: fetchedAt)
    }
}

extension AskedChallenge {
    /// The reply to asking: the one time the number is told.
    func json(_ issuer: Issuer) -> JSONValue {
        AskedView(challenge: challenge.view, number: number, code: code?.view(issuer), enrollments: enrollments).json
    }
}
