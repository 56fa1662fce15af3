import CountersignCore
import CountersignWire
import Encodings
import Hummingbird
import OpenPGP

/// Maps the outcome of each operation to a reply of the native API.
///
/// Only this file and `ProblemDetails+Outcomes.swift` do this; routes create no problems themselves.
extension NativeAPI {
    /// The reply of an operation whose earlier outcome may be repeated.
    func reply<Outcome>(
        _ result: Replayable<Outcome>, status: Int, _ render: (Outcome) throws(ProblemDetails) -> JSONValue
    ) throws(ProblemDetails) -> Response {
        switch result {
        case .done(let outcome): return Response(json: try render(outcome), status: status)
        case .conflict: throw ProblemDetails(.idempotencyConflict)
        case .replayed(let earlier):
            var response = Response(json: try render(earlier), status: status)
            response.headers[.idempotencyReplayed] = "true"
            return response
        }
    }

    func reply<Element>(
        _ outcome: ListOutcome<Element>, _ name: String, _ render: (Element) -> JSONValue
    ) throws(RequestRefusal) -> Response {
        switch outcome {
        case .page(let page):
            return Response(
                json: .members([
                    name: .array(page.elements.map(render)), "cursor": page.cursor.map(JSONValue.string),
                ]))
        case .cursorRefused:
            throw .invalidParameter("cursor", expected: "that of an earlier page of the same list")
        }
    }
}

/// Outcomes about challenges.
extension NativeAPI {
    func json(_ outcome: AskChallenge.Outcome) throws(ProblemDetails) -> JSONValue {
        switch outcome {
        case .asked(let asked): asked.json(ports.issuer)
        case .refused(let refusal): throw ProblemDetails(asking: refusal)
        }
    }

    func shown(_ outcome: WatchChallenge.Outcome) throws(ProblemDetails) -> WatchChallenge.Shown {
        switch outcome {
        case .shown(let shown): return shown
        case .notFound: throw ProblemDetails(.challengeNotFound)
        case .refused(let refusal): throw ProblemDetails(caller: refusal)
        }
    }

    func reply(_ outcome: CancelChallenge.Outcome) throws(ProblemDetails) -> Response {
        switch outcome {
        case .cancelled(let challenge): return Response(json: challenge.json)
        case .alreadyEnded(let status): throw ProblemDetails(ended: status)
        case .notFound: throw ProblemDetails(.challengeNotFound)
        }
    }

    func reply(_ outcome: ResendChallenge.Outcome) throws(ProblemDetails) -> Response {
        switch outcome {
        case .resent(let shown): return Response(json: shown.json)
        case .alreadyEnded(let status): throw ProblemDetails(ended: status)
        case .notFound: throw ProblemDetails(.challengeNotFound)
        case .tooMany: throw ProblemDetails(.tooManyResends)
        case .reported: throw ProblemDetails(.askingLocked)
        }
    }

    func code(_ outcome: ShowCode.Outcome) throws(ProblemDetails) -> ShownCode {
        switch outcome {
        case .code(let code): return code
        case .alreadyClaimed: throw ProblemDetails(.alreadyClaimed)
        case .alreadyEnded(let status): throw ProblemDetails(ended: status)
        case .noCode: throw ProblemDetails(.noCode)
        case .notFound: throw ProblemDetails(.challengeNotFound)
        }
    }

    func picture(_ outcome: ShowCode.Outcome) throws -> Response {
        let shown = try code(outcome)
        // A link must be opened on the device that shows it. A picture would be scanned by another device.
        guard !shown.isLink else { throw ProblemDetails(.noCode) }
        return Response(bytes: Array(try QRPicture(of: shown.code.text).svg.utf8), type: "image/svg+xml")
    }

    func reply(_ outcome: EnterCode.Outcome) throws(ProblemDetails) -> Response {
        switch outcome {
        case .approved(let challenge): return Response(json: challenge.json)
        case .incorrect(let attemptsLeft):
            throw ProblemDetails(.codeIncorrect, members: ["attempts_left": .integer(Int64(attemptsLeft))])
        case .noCode: throw ProblemDetails(.noCode)
        case .alreadyEnded(let status): throw ProblemDetails(ended: status)
        case .notFound: throw ProblemDetails(.challengeNotFound)
        }
    }

    func reply(_ outcome: ReturnChallenge.Outcome) throws(ProblemDetails) -> Response {
        switch outcome {
        case .released(let challenge): return Response(json: challenge.json)
        case .codeInvalid: throw ProblemDetails(.returnCodeInvalid)
        case .alreadyEnded(let status): throw ProblemDetails(ended: status)
        case .notFound: throw ProblemDetails(.challengeNotFound)
        case .rateLimited(let seconds): throw ProblemDetails(retryAfter: seconds)
        }
    }

    func receipt(_ outcome: ShowReceipt.Outcome) throws(ProblemDetails) -> StoredReceipt {
        switch outcome {
        case .receipt(let stored): return stored
        case .challengeNotFound: throw ProblemDetails(.challengeNotFound)
        case .none: throw ProblemDetails(.noReceipt)
        }
    }
}

/// Outcomes about users, clients and types, and of the operator's operations.
extension NativeAPI {
    func json(_ outcome: CreateUser.Outcome) throws(ProblemDetails) -> JSONValue {
        switch outcome {
        case .created(let user): user.json
        case .externalIDTaken: throw ProblemDetails(.externalIDTaken)
        }
    }

    func reply(_ outcome: ShowUser.Outcome) throws(ProblemDetails) -> Response {
        switch outcome {
        case .user(let user): return Response(json: user.json)
        case .notFound: throw ProblemDetails(.userNotFound)
        }
    }

    func reply(_ outcome: ShowKnownUser.Outcome) throws(ProblemDetails) -> Response {
        switch outcome {
        case .user(let user): return Response(json: user.json)
        case .notFound: throw ProblemDetails(.userNotFound)
        }
    }

    func id(_ outcome: FindUser.Outcome) -> UserID? {
        switch outcome {
        case .user(let id): id
        case .notFound: nil
        }
    }

    func export(_ outcome: ExportUser.Outcome) throws(ProblemDetails) -> ExportUser {
        switch outcome {
        case .begun(let export): return export
        case .notFound: throw ProblemDetails(.userNotFound)
        }
    }

    func reply(_ outcome: UpdateUser.Outcome) throws(ProblemDetails) -> Response {
        switch outcome {
        case .updated(let user): return Response(json: user.json)
        case .externalIDTaken: throw ProblemDetails(.externalIDTaken)
        case .notFound: throw ProblemDetails(.userNotFound)
        }
    }

    func reply(_ outcome: UnlinkUser.Outcome) throws(ProblemDetails) -> Response {
        switch outcome {
        case .unlinked: return Response(status: .noContent)
        case .notFound: throw ProblemDetails(.userNotFound)
        }
    }

    func reply(_ outcome: DeleteUser.Outcome) throws(ProblemDetails) -> Response {
        switch outcome {
        case .deleted: return Response(status: .noContent)
        case .notFound: throw ProblemDetails(.userNotFound)
        }
    }

    func json(_ outcome: CreateClient.Outcome) throws(ProblemDetails) -> JSONValue {
        switch outcome {
        case .created(let created): created.json(ports.hasher)
        }
    }

    func reply(_ outcome: ListClients.Outcome) -> Response {
        switch outcome {
        case .clients(let list): Response(json: ["clients": .array(list.map { $0.client.json(gone: $0.gone) })])
        }
    }

    func reply(_ client: Client, _ outcome: ShowGoneReceivers.Outcome) -> Response {
        switch outcome {
        case .gone(let gone): Response(json: client.json(gone: gone))
        }
    }

    func json(_ outcome: RenewClientSecret.Outcome) throws(ProblemDetails) -> JSONValue {
        switch outcome {
        case .renewed(let renewed): renewed.json
        case .notFound: throw ProblemDetails(.clientNotFound)
        }
    }

    func json(_ outcome: RenewCallbackSecret.Outcome) throws(ProblemDetails) -> JSONValue {
        switch outcome {
        case .renewed(let renewed): renewed.json(ports.hasher)
        case .notFound: throw ProblemDetails(.clientNotFound)
        }
    }

    func client(_ outcome: UpdateClient.Outcome) throws(ProblemDetails) -> Client {
        switch outcome {
        case .updated(let client): return client
        case .notFound: throw ProblemDetails(.clientNotFound)
        }
    }

    func client(_ outcome: DisableClient.Outcome) throws(ProblemDetails) -> Client {
        switch outcome {
        case .disabled(let client): return client
        case .notFound: throw ProblemDetails(.clientNotFound)
        }
    }

    func client(_ outcome: EnableClient.Outcome) throws(ProblemDetails) -> Client {
        switch outcome {
        case .enabled(let client): return client
        case .notFound: throw ProblemDetails(.clientNotFound)
        }
    }

    func reply(_ outcome: DeleteClient.Outcome) throws(ProblemDetails) -> Response {
        switch outcome {
        case .deleted: return Response(status: .noContent)
        case .notFound: throw ProblemDetails(.clientNotFound)
        }
    }

    func reply(_ outcome: ShowEnrollments.Outcome) throws(ProblemDetails) -> Response {
        switch outcome {
        case .enrollments(let list):
            let now = ports.time.now
            return Response(json: ["enrollments": .array(list.map { $0.json(at: now) })])
        case .userNotFound: throw ProblemDetails(.userNotFound)
        }
    }

    func reply(_ outcome: RemoveEnrollment.Outcome) throws(ProblemDetails) -> Response {
        switch outcome {
        case .removed: return Response(status: .noContent)
        case .notFound: throw ProblemDetails(.enrollmentNotFound)
        }
    }

    func locks(_ outcome: ListLocks.Outcome) -> [AskingLock] {
        switch outcome {
        case .locks(let locks): locks
        }
    }

    func reply(_ outcome: EndLock.Outcome) throws(ProblemDetails) -> Response {
        switch outcome {
        case .ended: return Response(status: .noContent)
        case .notFound: throw ProblemDetails(.challengeNotFound)
        }
    }

    func reply(_ outcome: ListEvents.Outcome) -> Response {
        switch outcome {
        case .events(let events, let cursor):
            Response(json: .members(["events": .array(events.map(\.json)), "cursor": .string("\(cursor)")]))
        }
    }

    func reply(_ outcome: ShowMessage.Outcome) throws(ProblemDetails) -> Response {
        switch outcome {
        case .message(let entry): return Response(json: entry.json)
        case .notFound: throw ProblemDetails(.messageNotFound)
        }
    }

    func entries(_ outcome: ListOutbox.Outcome) -> [OutboxEntry] {
        switch outcome {
        case .entries(let entries): entries
        }
    }

    func reply(_ outcome: ListIssuerKeys.Outcome) throws -> Response {
        switch outcome {
        case .keys(let keys): Response(json: ["keys": .array(try keys.map { try $0.json })])
        }
    }

    func json(_ outcome: CreateTicket.Outcome) throws(ProblemDetails) -> JSONValue {
        switch outcome {
        case .created(let created): created.json
        case .notFound: throw ProblemDetails(.userNotFound)
        case .blocked: throw ProblemDetails(.enrollmentBlocked)
        }
    }

    func reply(_ outcome: WaiveWait.Outcome) throws(ProblemDetails) -> Response {
        switch outcome {
        case .done: return Response(status: .noContent)
        case .notAllowed: throw ProblemDetails(.rightMissing, members: ["right": "waive_enrollment_approval"])
        case .notFound: throw ProblemDetails(.enrollmentNotFound)
        }
    }

    func reply(_ outcome: SuspendEnrollment.Outcome) throws(ProblemDetails) -> Response {
        switch outcome {
        case .done: return Response(status: .noContent)
        case .notFound: throw ProblemDetails(.enrollmentNotFound)
        case .waiting: throw ProblemDetails(.enrollmentWaiting)
        }
    }

    func reply(_ outcome: RemoveType.Outcome) throws(ProblemDetails) -> Response {
        switch outcome {
        case .removed: return Response(status: .noContent)
        case .notFound: throw ProblemDetails(.typeNotFound)
        case .neededBy(let types):
            let names = types.map { "\($0)" }
            throw ProblemDetails(
                .typeInUse, detail: "named by \(names.joined(separator: ", "))",
                members: ["types": .array(names.map(JSONValue.string))])
        }
    }

    func reply(_ outcome: RetryMessage.Outcome) throws(ProblemDetails) -> Response {
        switch outcome {
        case .queued: return Response(status: .noContent)
        case .notFound: throw ProblemDetails(.messageNotFound)
        case .over: throw ProblemDetails(.messageOver)
        }
    }

    func json(_ outcome: SendTestMessage.Outcome) throws(ProblemDetails) -> JSONValue {
        switch outcome {
        case .queued(let id): SendTestMessage.Outcome.json(queued: id)
        case .notSetUp: throw ProblemDetails(.transportNotSetUp)
        case .tooMany(let seconds): throw ProblemDetails(retryAfter: seconds)
        }
    }

    func reply(_ outcome: RotateIssuerKey.Outcome) throws -> Response {
        switch outcome {
        case .begun(let key): return Response(json: try key.json, status: 202)
        case .underWay(let key): throw ProblemDetails(.rotationUnderWay, members: ["key": try key.json])
        case .certificateFull: throw ProblemDetails(.issuerCertificateFull)
        }
    }
}

/// Outcomes of devices' requests.
extension NativeAPI {
    func reply(_ outcome: ShowOwnEnrollment.Outcome) async throws -> Response {
        switch outcome {
        case .enrollment(let enrollment): return Response(json: enrollment.json(at: ports.time.now))
        case .refused(let refusal): throw try await problem(refusal)
        }
    }

    func reply(_ outcome: UpdateEnrollment.Outcome) async throws -> Response {
        switch outcome {
        case .updated(let enrollment): return Response(json: enrollment.json(at: ports.time.now))
        case .refused(let refusal): throw try await problem(refusal)
        case .pushTokenInUse: throw ProblemDetails(.pushTokenInUse)
        }
    }

    func reply(_ outcome: RemoveOwnEnrollment.Outcome) async throws -> Response {
        switch outcome {
        case .removed: return Response(status: .noContent)
        case .refused(let refusal): throw try await problem(refusal)
        }
    }

    func reply(_ outcome: ShowMethods.Outcome) async throws -> Response {
        switch outcome {
        case .methods(let reply): return Response(json: reply.json)
        case .refused(let refusal): throw try await problem(refusal)
        }
    }

    func reply(_ outcome: UndoMethod.Outcome) async throws -> Response {
        switch outcome {
        case .undone: return Response(status: .noContent)
        case .refused(let refusal): throw try await problem(refusal)
        case .waiting: throw ProblemDetails(.enrollmentWaiting)
        case .notFound: throw ProblemDetails(.enrollmentNotFound)
        }
    }

    func reply(_ outcome: EnrollDevice.Outcome) async throws -> Response {
        switch outcome {
        case .enrolled(let enrollment, let approval):
            let keys = try ports.keys.current()
            let reply = EnrollmentReply(
                enrollment: enrollment.id, user: enrollment.user, serverCertificate: keys.certificate,
                pushKeys: keys.pushKeys,
                policies: policies(try await ShowPolicies.show(of: enrollment.client, ports: ports)),
                approval: approval.map { ApprovalNotice(number: $0.number, expiresAt: $0.expiresAt) })
            return Response(json: reply.json, status: 201)
        case .refused(let refusal): throw try await problem(refusal)
        case .certificateInvalid(let refusal): throw ProblemDetails(.certificateInvalid, detail: refusal.words)
        case .ticketInvalid: throw ProblemDetails(.ticketInvalid)
        case .ticketUsed: throw ProblemDetails(.ticketUsed)
        case .ticketExpired: throw ProblemDetails(.ticketExpired)
        case .alreadyEnrolled: throw ProblemDetails(.alreadyEnrolled)
        case .tooManyDevices: throw ProblemDetails(.tooManyDevices)
        case .blocked: throw ProblemDetails(.enrollmentBlocked)
        case .pushTokenInUse: throw ProblemDetails(.pushTokenInUse)
        }
    }

    private func policies(_ outcome: ShowPolicies.Outcome) -> EnrollmentPolicies {
        switch outcome {
        case .policies(let policies): policies
        }
    }

    func reply(_ outcome: PendingChallenges.Outcome) async throws -> Response {
        switch outcome {
        case .list(let announcements, let cursor):
            return Response(json: ["challenges": .array(announcements.map(\.payload)), "cursor": .string(cursor)])
        case .refused(let refusal): throw try await problem(refusal)
        }
    }

    func reply(_ outcome: OpenChallenge.Outcome) async throws -> Response {
        switch outcome {
        case .message(let message): return Response(json: ["message": .string(Base64.encode(message))])
        case .refused(let refusal): throw try await problem(refusal)
        case .notFound: throw ProblemDetails(.challengeNotFound)
        case .alreadyEnded(let status): throw ProblemDetails(ended: status)
        }
    }

    func reply(_ outcome: ClaimChallenge.Outcome) async throws -> Response {
        switch outcome {
        case .claimed: return Response(status: .noContent)
        case .refused(let refusal): throw try await problem(refusal)
        case .codeInvalid: throw ProblemDetails(.codeInvalid)
        case .codeExpired: throw ProblemDetails(.codeExpired)
        case .alreadyClaimed: throw ProblemDetails(.alreadyClaimed)
        case .alreadyEnded(let status): throw ProblemDetails(ended: status)
        case .waiting: throw ProblemDetails(.enrollmentWaiting)
        case .userNotLinked: throw ProblemDetails(.userNotLinked)
        case .methodMissing(let methods):
            throw ProblemDetails(
                .methodMissing, members: ["methods": .array(methods.map { .string($0.rawValue) })])
        case .rateLimited(let seconds): throw ProblemDetails(retryAfter: seconds)
        }
    }

    func reply(_ outcome: AnswerChallenge.Outcome) async throws -> Response {
        switch outcome {
        case .decided(let reply): return Response(json: reply.json)
        case .refused(let refusal): throw try await problem(refusal)
        case .notFound: throw ProblemDetails(.challengeNotFound)
        case .alreadyEnded(let status): throw ProblemDetails(ended: status)
        case .invalid(let fault):
            // Developers of devices have their own server. Others must not learn details that help to forge answers.
            throw ProblemDetails(.answerInvalid, detail: isDevelopment ? fault.words : nil)
        case .pinIncorrect(let attemptsLeft): throw ProblemDetails(pinIncorrect: attemptsLeft)
        case .pinLocked: throw ProblemDetails(.pinLocked)
        case .customRetry(let reply):
            throw ProblemDetails(.customRetry, payload: reply.payload, attemptsLeft: reply.attemptsLeft)
        case .customFailed(let payload): throw ProblemDetails(.customFailed, payload: payload)
        case .customNotRegistered: throw ProblemDetails(.customNotRegistered)
        case .customUnavailable: throw ProblemDetails(.customUnavailable)
        case .rateLimited(let seconds): throw ProblemDetails(retryAfter: seconds)
        }
    }

    func reply(_ outcome: ChangeMethods.Outcome) async throws -> Response {
        switch outcome {
        case .changed(nil): return Response(status: .noContent)
        case .changed(let payload?): return Response(json: ["payload": .string(payload)])
        case .refused(let refusal): throw try await problem(refusal)
        case .invalid: throw ProblemDetails(.changeInvalid)
        case .certificateFull: throw ProblemDetails(.certificateFull)
        case .notAuthorized(let needs):
            throw ProblemDetails(.changeNotAuthorized, members: ["needs": .string(needs.rawValue)])
        case .blocked: throw ProblemDetails(.enrollmentBlocked)
        case .pinIncorrect(let attemptsLeft): throw ProblemDetails(pinIncorrect: attemptsLeft)
        case .pinLocked: throw ProblemDetails(.pinLocked)
        case .customRetry(let payload): throw ProblemDetails(.customRetry, payload: payload)
        case .customFailed(let payload): throw ProblemDetails(.customFailed, payload: payload)
        case .customNotRegistered: throw ProblemDetails(.customNotRegistered)
        case .customUnavailable: throw ProblemDetails(.customUnavailable)
        case .rateLimited(let seconds): throw ProblemDetails(retryAfter: seconds)
        }
    }

    func reply(_ outcome: ShowOtherDevices.Outcome) async throws -> Response {
        switch outcome {
        case .list(let list): return Response(json: list.json)
        case .refused(let refusal): throw try await problem(refusal)
        case .waiting: throw ProblemDetails(.enrollmentWaiting)
        }
    }

    func reply(_ outcome: ActOnDevice.Outcome) async throws -> Response {
        switch outcome {
        case .done: return Response(status: .noContent)
        case .refused(let refusal): throw try await problem(refusal)
        case .waiting, .otherWaits: throw ProblemDetails(.enrollmentWaiting)
        case .notFound: throw ProblemDetails(.enrollmentNotFound)
        case .invalid: throw ProblemDetails(.changeInvalid)
        case .notAuthorized(let needs):
            throw ProblemDetails(.changeNotAuthorized, members: ["needs": .string(needs.rawValue)])
        case .pinIncorrect(let attemptsLeft): throw ProblemDetails(pinIncorrect: attemptsLeft)
        case .pinLocked: throw ProblemDetails(.pinLocked)
        case .rateLimited(let seconds): throw ProblemDetails(retryAfter: seconds)
        }
    }

    /// The problem for a refused device; a removed enrollment also gets the server's signed notice.
    func problem(_ refusal: DeviceRefusal) async throws -> ProblemDetails {
        switch refusal {
        case .signature(let error): return ProblemDetails(signature: error)
        case .unknownEnrollment: return ProblemDetails(.unknownEnrollment)
        case .nonceReplayed: return ProblemDetails(.nonceReplayed)
        case .clockSkew(let serverTime):
            return ProblemDetails(.clockSkew, members: ["server_time": .string("\(serverTime)")])
        case .suspended: return ProblemDetails(.enrollmentSuspended)
        case .deregistered(let notice):
            let signed = try await ports.keys.current().sign(notice, at: ports.time.now)
            return ProblemDetails(.deviceDeregistered, members: ["notice": .string(signed)])
        }
    }
}

extension ProblemDetails {
    fileprivate init(retryAfter seconds: Seconds) {
        self.init(.rateLimited, members: ["retry_after": .integer(seconds.value)])
    }

    fileprivate init(pinIncorrect attemptsLeft: Int) {
        self.init(.pinIncorrect, members: ["attempts_left": .integer(Int64(attemptsLeft))])
    }

    /// A problem with the message of a custom authenticator.
    fileprivate init(_ code: ProblemCode, payload: String?, attemptsLeft: Int? = nil) {
        self.init(
            code,
            members: JSONObject([
                "attempts_left": attemptsLeft.map { .integer(Int64($0)) }, "payload": payload.map(JSONValue.string),
            ]))
    }
}

extension SendTestMessage.Outcome {
    /// The reply to a test message that is queued.
    static func json(queued id: EventID) -> JSONValue { ["message": .string("\(id)")] }
}
