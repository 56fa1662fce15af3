import CountersignCore
import CountersignWire
import Encodings
import OpenPGP
import RelyingPartyAPI

extension ShownCode {
    /// The text of a QR code, or a link, with the time at which it expires.
    func view(_ issuer: Issuer) -> CodeView {
        CodeView(isLink ? .link(code.link(to: issuer)) : .qr(code.text), expiresAt: expiresAt)
    }
}

extension ShownChallenge {
    /// The names of the methods by which the challenge may be answered.
    private var methodNames: [String] {
        methods.isEmpty ? [ChallengeOutcome.enteredMethod] : methods.map(\.rawValue)
    }

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
    var view: ChallengeView { ShownChallenge(self).view }

    var json: JSONValue { view.json }
}

extension WatchChallenge.Shown {
    /// The challenge with its deliveries to devices, and with its receipt if a device has ended it.
    var json: JSONValue {
        var view = challenge.view
        view.deliveries = deliveries.map(\.view)
        view.receipt = receipt?.text
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
    /// The reply to a new challenge, the only one that contains the number.
    func json(_ issuer: Issuer) -> JSONValue {
        AskedView(challenge: challenge.view, number: number, code: code?.view(issuer), enrollments: enrollments).json
    }
}
