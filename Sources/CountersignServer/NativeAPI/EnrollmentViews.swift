import CountersignCore
import CountersignWire
import Encodings
import OpenPGP
import RelyingPartyAPI

extension CreateTicket.Created {
    var json: JSONValue {
        TicketView(
            ticket: invitation.ticket, qr: invitation.text, user: invitation.user, enrollment: invitation.enrollment,
            expiresAt: expiresAt
        ).json
    }
}

extension Enrollment {
    func view(at now: Timestamp) -> EnrollmentView {
        var waiting: [AnswerMethod: Timestamp] = [:]
        if case .active = state { for (method, time) in self.waiting(at: now) { waiting[method] = time } }
        return EnrollmentView(
            enrollment: id, user: user, fingerprint: fingerprint, device: device, versions: versions,
            assurance: credential.assurance.rawValue, createdAt: createdAt, confirmedAt: confirmedAt,
            pin: pinState.rawValue,
            hasBiometric: biometric != nil, custom: customs.keys.sorted().map(\.description), push: push?.view,
            state: viewState(at: now), waiting: waiting)
    }

    func json(at now: Timestamp) -> JSONValue { view(at: now).json }

    private func viewState(at now: Timestamp) -> EnrollmentView.State {
        switch state {
        case .active: isLetIn(at: now) ? .active : .waiting(approval: approval, until: countsFrom)
        case .suspended(let time): .suspended(at: time)
        case .removed(let reason, let time): .removed(reason: reason.rawValue, at: time)
        }
    }
}

extension PushTarget {
    fileprivate var view: PushTargetView {
        PushTargetView(
            service: service.name, app: "\(app)", environment: service.environment?.rawValue,
            registeredAt: registeredAt)
    }
}
