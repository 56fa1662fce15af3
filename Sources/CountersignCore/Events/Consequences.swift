import CountersignWire
import Encodings
import OpenPGP

/// The consequences of domain events, in the same transaction as the event.
///
/// They are the audit, callbacks and notices, pushes and their withdrawal, the notification of waiting calls, and
/// what depends on the end of a challenge.
extension UnitOfWork {
    /// Adds the consequences of an event to the transaction.
    func raise(_ event: DomainEvent) throws {
        switch event {
        case .challengeAsked(let challenge, let enrollments, let pushed):
            // Said of every challenge: where it is not said, an earlier version has written the event.
            let detail: JSONObject = [
                "type": .string("\(challenge.question.type)"), "sign_in": .bool(challenge.purpose.isOfSignIn),
            ]
            try record(.challengeAsked, detail, of: challenge)
            for enrollment in enrollments { notify(.enrollment(enrollment)) }
            for enrollment in pushed { try announce(challenge, to: enrollment) }
        case .challengeClaimed(let challenge, let enrollment, let form):
            try record(.challengeClaimed, ["via": .string(form.rawValue)], of: challenge, by: enrollment)
            if let signIn = challenge.purpose.authorization { notify(.authorization(signIn)) }
            notify(.challenge(challenge.id))
            notify(.enrollment(enrollment.id))
        case .challengeFetched(let challenge, let enrollment):
            try record(.challengeFetched, of: challenge, by: enrollment)
        case .challengeHeld(let challenge, let method, let enrollment):
            try record(.challengeReturning, ["method": .string(method.rawValue)], of: challenge, by: enrollment)
            notify(.challenge(challenge.id))
        case .challengeEnded(let challenge, let outcome, let decider): try ended(challenge, as: outcome, by: decider)
        case .answerRefused(let challenge, let fault, let digest, let enrollment):
            try record(
                .answerRefused, ["reason": .string(fault.name), "digest": .string(digest.hex)],
                user: enrollment.user, enrollment: enrollment.id, challenge: challenge)
        case .customAnswered(let name, let result, let challenge, let enrollment):
            let detail = JSONObject([
                "authenticator": .string("\(name)"), "result": .string(result.verdict?.rawValue ?? "unavailable"),
                "attempts_left": result.attemptsLeft.map { .integer(Int64($0)) },
            ])
            try record(
                result.verdict == .ok ? .customAccepted : .customRefused, marked(detail, for: challenge?.purpose),
                of: enrollment, to: challenge?.id)

        case .ticketCreated(let ticket):
            try record(
                .ticketCreated,
                ["waiver": .bool(ticket.waivesApproval), "sign_in": .bool(ticket.family != nil)], client: ticket.client,
                user: ticket.user,
                enrollment: ticket.enrollment)
        case .enrollmentAdded(let enrollment, let isWaived):
            var detail: JSONObject = [
                "fingerprint": .string("\(enrollment.fingerprint)"), "device": enrollment.device.json,
                "waiver": .bool(isWaived),
            ]
            if !enrollment.counts(at: now) { detail["waiting_until"] = .string("\(enrollment.countsFrom)") }
            try record(.enrollmentCreated, detail, of: enrollment)
            try tellClients(.created(isWaived: isWaived), of: enrollment)
        case .enrollmentWaived(let enrollment):
            let fingerprint = enrollment.fingerprint
            try record(.enrollmentWaived, byActor(["fingerprint": .string("\(fingerprint)")]), of: enrollment)
        case .enrollmentLetIn(let enrollment, let whom, let didWait):
            if whom.bringsMethods {
                for (method, _) in enrollment.waiting(at: now) {
                    try tellClients(.method(method, change: MethodEvent.Change.counts.rawValue), of: enrollment)
                }
            }
            notify(.enrollment(enrollment.id))
            guard didWait else { return }
            switch whom {
            case .device: try record(.enrollmentApproved, byActor(), of: enrollment)
            case .waiver: try record(.enrollmentApproved, ["by": "waiver"], of: enrollment)
            case .time: try record(.enrollmentApproved, ["by": "time"], of: enrollment)
            }
            try tellClients(.approved, of: enrollment)
        case .enrollmentConfirmed(let enrollment):
            try record(.enrollmentConfirmed, byActor(), of: enrollment)
            // It is told as it is from now on: to all clients.
            if let confirmed = try enrollments.find(enrollment.id) { try tellClients(.confirmed, of: confirmed) }
            notify(.enrollment(enrollment.id))
        case .enrollmentConfirming(let enrollment, let time):
            try record(.enrollmentConfirming, byActor(["waiting_until": .string("\(time)")]), of: enrollment)
            try tellAllClients(.confirming(from: time), of: enrollment)
        case .enrollmentUnconfirmed(let enrollment):
            try record(.enrollmentUnconfirmed, byActor(), of: enrollment)
            // The clients that believe it no longer are told as well: the event has it as it was.
            try tellClients(.unconfirmed, of: enrollment)
        case .enrollmentSuspended(let enrollment):
            try record(.enrollmentSuspended, byActor(), of: enrollment)
            try tellClients(.suspended, of: enrollment)
            notify(.enrollment(enrollment.id))
            try endSessions(openedBy: enrollment)
        case .enrollmentResumed(let enrollment):
            try record(.enrollmentResumed, byActor(), of: enrollment)
            try tellClients(.resumed, of: enrollment)
            notify(.enrollment(enrollment.id))
        case .enrollmentUpdated(let enrollment, let update):
            try record(.enrollmentUpdated, update.auditDetail, of: enrollment)
        case .enrollmentRemoved(let enrollment, let reason, let client):
            notify(.enrollment(enrollment.id))
            try record(
                .enrollmentRemoved, ["reason": .string(reason.rawValue)], client: client, user: enrollment.user,
                enrollment: enrollment.id)
            try tellClients(.removed(reason), of: enrollment)
            try endSessions(openedBy: enrollment)
            try endFamilies(.enrollment(enrollment.id, of: enrollment.user), because: .enrollmentRemoved)
            for name in enrollment.customs.keys.sorted() { try raise(.authenticatorDeregistered(name, of: enrollment)) }

        case .methodChanged(let event, let enrollment):
            var detail: JSONObject = [
                "method": .string(event.method.rawValue), "change": .string(event.change.rawValue),
            ]
            detail["waiting_until"] = event.until.map { .string("\($0)") }
            if event.change == .undone {
                detail = byActor(detail)
                notify(.enrollment(enrollment.id))
            }
            try record(.methodChanged, detail, of: enrollment)
            try tellClients(
                .method(event.method, change: event.change.rawValue, until: event.until), of: enrollment)
        case .methodChangeRefused(let reason, let enrollment):
            try record(.methodChangeRefused, ["reason": .string(reason)], of: enrollment)
        case .authenticatorDeregistered(let name, let enrollment): try tellDeregistered(name, of: enrollment)
        case .authenticatorLost(let name, let enrollment):
            try tellClients(
                .method(.custom(name), change: MethodEvent.Change.removed.rawValue), of: enrollment)
        case .pinIncorrect(let attemptsLeft, let enrollment):
            try record(.pinIncorrect, ["attempts_left": .integer(Int64(attemptsLeft))], of: enrollment)
        case .pinLocked(let enrollment):
            try record(.pinLocked, of: enrollment)
            try tellClients(.pinLocked, of: enrollment)

        case .userCreated(let user): try record(.userCreated, client: actor.client, user: user)
        case .userDeleted(let user, let client): try record(.userDeleted, client: client, user: user)
        case .userExported(let user): try record(.userExported, client: actor.client, user: user)
        case .userCodeSet(let user): try record(.userCodeSet, user: user)
        case .userCodeRemoved(let user): try record(.userCodeRemoved, user: user)
        case .userCodeIncorrect(let attemptsLeft, let user, let client):
            try record(
                .userCodeIncorrect, ["attempts_left": .integer(Int64(attemptsLeft))], client: client, user: user)
        case .userCodeLocked(let user, let client): try record(.userCodeLocked, client: client, user: user)
        case .identifierVerified(let identifier): try record(.identifierVerified, of: identifier)
        case .identifierRemoved(let identifier): try record(.identifierRemoved, of: identifier)
        case .claimProved(let claim):
            try unconfirmEnrollments(of: claim.user, by: claim.client)
            // Devices of the client may have brought them in.
            try passkeys.unconfirm(of: claim.user)
        case .claimEnded(let claim):
            try unconfirmEnrollments(of: claim.user, by: claim.client)
            try record(
                .claimEnded, ["address": .string(claim.address.kind.rawValue)], client: claim.client, user: claim.user)
        case .enrollingBlocked(let isBlocked, let user):
            try record(isBlocked ? .enrollmentBlocked : .enrollmentUnblocked, client: actor.client, user: user)
        case .userClaimsSet(let user): try record(.userClaimsSet, client: actor.client, user: user)
        case .askingUnlocked(let lock):
            try record(.askingUnlocked, byActor(), client: lock.client, user: lock.user, challenge: lock.challenge)

        case .clientCreated(let client):
            let detail = JSONObject([
                "name": .string(client.name.text), "waiver": .bool(client.waivesEnrollmentApproval),
                "third_party": .bool(client.isThirdParty),
                "vendors": client.vendors.isEmpty ? nil : client.vendors.json,
            ])
            try record(.clientCreated, detail, client: client.id)
        case .clientUpdated(let client, let changes):
            try record(.clientUpdated, byActor(changes.auditDetail), client: client)
            if changes.rights != nil { try notifyWatchers(of: client) }
        case .clientSecretRenewed(let client, let earlierUntil):
            try record(.clientSecretRenewed, byActor(["earlier_until": .string("\(earlierUntil)")]), client: client)
            try notifyWatchers(of: client)
        case .callbackSecretRenewed(let client, let earlierUntil):
            try record(.callbackSecretRenewed, byActor(["earlier_until": .string("\(earlierUntil)")]), client: client)
        case .clientDisabled(let client):
            try record(.clientDisabled, byActor(), client: client)
            try endFamilies(.client(client), because: .clientEnded)
            try notifyWatchers(of: client)
        case .clientEnabled(let client):
            try record(.clientEnabled, byActor(), client: client)
            try notifyWatchers(of: client)
            // The outbox may hold messages that could not be delivered while the client was disabled.
            for kind in OutboxMessage.Kind.allCases { notify(.outbox(kind)) }
        case .clientDeleted(let client):
            try record(.clientDeleted, byActor(), client: client)
            try endFamilies(.client(client), because: .clientEnded)
            try notifyWatchers(of: client)
        case .relyingPartySet(let party):
            let detail = JSONObject([
                "profile": .string(party.profile.rawValue), "asked_browsers": .string(party.askedBrowsers.rawValue),
                "redirect_hosts": .array(party.redirectURIs.map { .string($0.place) }),
                "logout_host": party.logoutReceiver.map { .string($0.uri.host) },
                "device_grant": party.deviceGrant == .off ? nil : true,
                "device_login_hint": party.deviceGrant == .byHint ? true : nil,
                "backchannel": party.backchannel.map { .string($0.delivery.name) },
                "backchannel_host": (party.backchannel?.delivery.receiver?.host).map { .string($0) },
                "resource": party.resource.map { .string("\($0.identifier)") },
                "resources": party.resources.isEmpty ? nil : .array(party.resources.map { .string("\($0)") }),
            ])
            try record(.relyingPartySet, byActor(detail), client: party.client)
        case .relyingPartyRemoved(let client):
            try record(.relyingPartyRemoved, byActor(), client: client)
            try endFamilies(.client(client), because: .clientEnded)
            try notifyWatchers(of: client)
        case .lookSet(let look, let client): try record(.lookSet, byActor(look.auditDetail), client: client)
        case .lookRemoved(let client): try record(.lookRemoved, byActor(), client: client)
        case .constantValues(let parameters, let client):
            let detail: JSONObject = ["parameters": .array(parameters.map(JSONValue.string))]
            try record(.clientSendsConstants, detail, client: client)
        case .signedIn(let authorization, let authentication, let isFresh):
            let detail = JSONObject([
                "authorization": .string("\(authorization.id)"), "acr": .string(authentication.strength.rawValue),
                "fresh": .bool(isFresh), "door": authorization.wanted.door.auditName.map { .string($0) },
            ])
            try record(
                .signedIn, detail, client: authorization.client, user: authentication.user,
                enrollment: authentication.evidence.enrollment, challenge: authentication.evidence.challenge)
        case .signedInByDevice(let family):
            let authentication = family.authentication
            try record(
                .signedIn,
                ["family": .string("\(family.id)"), "acr": .string(authentication.strength.rawValue), "fresh": true],
                client: family.client, user: authentication.user, enrollment: authentication.evidence.enrollment,
                challenge: authentication.evidence.challenge)
        case .consentGiven(let grant):
            try record(
                .consentGiven, ["scope": .string(grant.scopes.sorted().joined(separator: " "))],
                client: grant.client, user: grant.user)
        case .accessEnded(let user, let client): try record(.accessEnded, client: client, user: user)
        case .passkeyCreated(let passkey):
            var detail: JSONObject = ["passkey": .string("\(passkey.id)"), "confirmed": .bool(passkey.isConfirmed)]
            if !passkey.counts(at: now) { detail["waiting_until"] = .string("\(passkey.countsFrom)") }
            try record(.passkeyCreated, detail, user: passkey.user)
            try tellClients(.created, of: passkey)
        case .passkeyRemoved(let passkey):
            try record(.passkeyRemoved, ["passkey": .string("\(passkey.id)")], user: passkey.user)
            try tellClients(.removed, of: passkey)
        case .sessionEnded(let session):
            try record(.sessionEnded, ["session": .string("\(session.id)")], user: session.user)
        case .tokensGiven(let family):
            try record(
                .tokensGiven,
                ["family": .string("\(family.id)"), "scope": .string(family.grantedNames.joined(separator: " "))],
                client: family.client, user: family.user)
        case .tokensEnded(let selection, let reason, let count):
            try record(
                .tokensEnded, ["reason": .string(reason.rawValue), "count": .integer(Int64(count))],
                client: selection.client, user: selection.user, enrollment: selection.enrollment)
        case .typeSet(let type): try record(.typeSet, ["type": type.json], client: actor.client)
        case .typeRemoved(let name): try record(.typeRemoved, ["type": .string("\(name)")], client: actor.client)
        case .backchannelGivenUp(let authorization, let client): try endUndelivered(authorization, at: client)
        case .messageRetried(let message):
            let kind = message.content.kind
            try record(
                .messageRetried, ["message": .string("\(message.id)"), "kind": .string(kind.rawValue)],
                client: actor.client)
            notify(.outbox(kind))
        case .messageTested(let message, let template):
            let detail: JSONObject = [
                "message": .string("\(message.id)"), "kind": .string(message.content.kind.rawValue),
                "template": .string(template.rawValue),
            ]
            try record(.messageTested, detail, client: actor.client)
        case .issuerKeysChanged(let keys, let ended):
            let changes = keys.map { ($0, $0.state.rawValue) } + ended.map { ($0, "ended") }
            for (key, state) in changes {
                let detail: JSONObject = [
                    "key": .string("\(key.id)"), "use": .string(key.use.rawValue), "state": .string(state),
                    "compromised": .bool(key.isCompromised),
                ]
                try record(.issuerKeyChanged, detail, client: actor.client)
            }
            notify(.keys)
        }
    }

    private func ended(_ challenge: Challenge, as outcome: ChallengeOutcome, by decider: Enrollment?) throws {
        try record(
            outcome.auditKind,
            marked(outcome.reason.map { ["reason": .string($0)] } ?? [:], for: challenge.purpose),
            client: challenge.question.client, user: challenge.user, enrollment: outcome.decidedBy,
            challenge: challenge.id)
        if let callback = challenge.callback(ended: outcome, id: nextID(), at: now) {
            try outbox.enqueue(callback)
        }
        notify(.challenge(challenge.id))
        try tellDevices(of: challenge, ended: outcome)
        try learnBrowser(outcome, from: challenge)
        switch challenge.purpose {
        // The device that was asked comes for its tokens by itself.
        case .relyingParty, .ownSignIn: break
        case .newDevice(let device): try concludeApproval(device, by: challenge, ended: outcome)
        case .authorization(let id): try concludeAuthorization(id, by: challenge, ended: outcome, on: decider)
        }
    }

    /// Ends the sessions that a device has opened or renewed last, and tells their clients, and those that got tokens by
    /// it in sessions that something else has renewed since.
    private func endSessions(openedBy enrollment: Enrollment) throws {
        // What was given in these sessions before this device renewed them ends with them.
        for session in try sessions.lasting(of: enrollment.user, at: now)
        where session.authentication.evidence.enrollment == enrollment.id {
            try endFamilies(.session(session.id), because: .sessionEnded)
            try tellLogout(of: session)
        }
        try sessions.endAll(of: enrollment.user, by: enrollment.id, at: now)
        try tellLogout(of: enrollment.user) { $0.enrollment == enrollment.id }
    }

    /// The detail of an event, extended by the id of the actor.
    private func byActor(_ detail: JSONObject = [:]) -> JSONObject {
        var detail = detail
        detail["by"] = actor.id.map(JSONValue.string)
        return detail
    }

    /// The detail of an event about a challenge, with whether a sign-in asks it: the event is kept for longer than the
    /// challenge, and no client sees it.
    private func marked(_ detail: JSONObject, for purpose: Purpose?) -> JSONObject {
        var detail = detail
        if purpose?.isOfSignIn == true { detail["sign_in"] = true }
        return detail
    }

    private func record(
        _ kind: AuditEventKind, _ detail: JSONObject = [:], of challenge: Challenge, by enrollment: Enrollment? = nil
    ) throws {
        try record(
            kind, marked(detail, for: challenge.purpose), client: challenge.question.client,
            user: enrollment?.user ?? challenge.user, enrollment: enrollment?.id, challenge: challenge.id)
    }

    private func record(
        _ kind: AuditEventKind, _ detail: JSONObject = [:], of enrollment: Enrollment, to challenge: ChallengeID? = nil
    ) throws {
        try record(
            kind, detail, client: enrollment.client, user: enrollment.user, enrollment: enrollment.id,
            challenge: challenge)
    }

    private func record(_ kind: AuditEventKind, of identifier: VerifiedIdentifier) throws {
        try record(
            kind,
            ["identifier": .string("\(identifier.id)"), "address": .string(identifier.address.kind.rawValue)],
            user: identifier.user)
    }

    private func record(
        _ kind: AuditEventKind, _ detail: JSONObject = [:], client: ClientID? = nil, user: UserID? = nil,
        enrollment: EnrollmentID? = nil, challenge: ChallengeID? = nil
    ) throws {
        try audit.append(
            AuditEvent(
                id: nextID(), at: now, kind: kind, actor: actor, client: client, user: user,
                enrollment: enrollment, challenge: challenge, detail: detail))
    }
}

extension Wanted.Door {
    /// What the audit calls it; nil for a browser.
    fileprivate var auditName: String? {
        switch self {
        case .browser: nil
        case .device: "device_grant"
        case .backchannel: "backchannel"
        }
    }
}
