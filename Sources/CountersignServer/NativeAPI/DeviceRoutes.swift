import CountersignCore
import CountersignWire
import Encodings
import HTTPTypes
import Hummingbird
import JOSE
import OpenPGP

/// What devices call.
extension NativeAPI {
    /// How many requests of one device may wait at once: one app, its extensions, and what a lost network left behind.
    private static let maximumDeviceWaits = 8

    func addDevices(to routes: inout NativeRoutes) {
        routes.anyone(.get, "/v1/server-certificate") { [ports] _ in
            Response(bytes: Array(try ports.keys.current().certificate.armored.utf8), type: "application/pgp-keys")
        }
        routes.anyone(.get, "/v1/push-keys") { [ports] _ in
            Response(json: try ports.keys.current().pushKeys.json)
        }
        routes.anyone(.post, "/v1/enrollments") { [self] incoming in
            let request = try deviceRequest(incoming)
            let enrollment = try EnrollmentRequest(incoming.json())
            try admit(enrollment.push)
            return try await enroll(enrollment, in: request, from: incoming.context)
        }
        routes.device(.get, "/v1/enrollments/self") { [ports, self] call, _ in
            switch try await ShowEnrollments.own(call, ports: ports) {
            case .success(let enrollment): return Response(json: enrollment.json(at: ports.time.now))
            case .failure(let refusal): throw try await problem(refusal)
            }
        }
        routes.device(.patch, "/v1/enrollments/self") { [ports, self] call, incoming in
            let update = try EnrollmentUpdate(incoming.json())
            if case .registered(let registration) = update.push { try admit(registration) }
            switch try await UpdateEnrollment.update(update, by: call, ports: ports) {
            case .success(let enrollment): return Response(json: enrollment.json(at: ports.time.now))
            case .failure(.device(let refusal)): throw try await problem(refusal)
            case .failure(.pushTokenInUse): throw ProblemDetails(.pushTokenInUse)
            }
        }
        routes.device(.delete, "/v1/enrollments/self") { [self] call, _ in
            if let refusal = try await RemoveEnrollment.remove(call, ports: ports) { throw try await problem(refusal) }
            return Response(status: .noContent)
        }
        routes.device(.get, "/v1/enrollments/self/methods") { [ports, self] call, _ in
            switch try await ChangeMethods.show(call, ports: ports) {
            case .success(let reply): return Response(json: reply.json)
            case .failure(let refusal): throw try await problem(refusal)
            }
        }
        routes.device(.post, "/v1/enrollments/self/methods") { [self] call, incoming in
            try await change(try MethodChangeRequest(incoming.json()), by: call)
        }
        addOtherDevices(to: &routes)
        routes.device(.get, "/v1/enrollments/self/challenges", query: ["wait", "cursor"]) { [self] call, incoming in
            try await pending(for: call, by: incoming)
        }
        routes.device(.get, "/v1/challenges/:challenge/message") { [self] call, incoming in
            let id = try incoming.challenge()
            switch try await OpenChallenge.open(id, for: call, ports: ports) {
            case .message(let message): return Response(json: ["message": .string(Base64.encode(message))])
            case .refused(let refusal): throw try await problem(refusal)
            case .notFound: throw ProblemDetails(.challengeNotFound)
            case .alreadyEnded(let status): throw ProblemDetails(ended: status)
            }
        }
        routes.device(.post, "/v1/challenges/claim") { [self] call, incoming in
            let code = try ChallengeCode(claim: incoming.json())
            if let problem = try await problem(ofClaiming: code, by: call) { throw problem }
            return Response(status: .noContent)
        }
        routes.device(.post, "/v1/challenges/:challenge/answer") { [self] call, incoming in
            let id = try incoming.challenge()
            return try await answer(try AnswerRequest(incoming.json()), to: id, by: call)
        }
    }

    /// Refuses a registration on the server's own machine when there is more than that machine.
    private func admit(_ registration: PushRegistration?) throws {
        guard registration?.service == .local, !isDevelopment else { return }
        throw JSONShapeError.invalid(pointer: "/push/service", expected: PushRegistration.services)
    }

    private func enroll(
        _ request: EnrollmentRequest, in signed: DeviceRequest, from caller: ServerContext
    ) async throws -> Response {
        let place = ContextLine(address: caller.caller?.description, userAgent: nil)
        switch try await EnrollDevice.enroll(request, in: signed, from: place, ports: ports) {
        case .enrolled(let enrollment, let approval):
            let keys = try ports.keys.current()
            let reply = EnrollmentReply(
                enrollment: enrollment.id, user: enrollment.user, serverCertificate: keys.certificate,
                pushKeys: keys.pushKeys, policies: try await policies(of: enrollment.client),
                approval: approval.map { ApprovalNotice(number: $0.number, expiresAt: $0.expiresAt) })
            return Response(json: reply.json, status: 201)
        case .refused(let refusal): throw try await problem(refusal)
        case .certificateInvalid(let refusal): throw ProblemDetails(certificate: refusal)
        case .ticketInvalid: throw ProblemDetails(.ticketInvalid)
        case .ticketUsed: throw ProblemDetails(.ticketUsed)
        case .ticketExpired: throw ProblemDetails(.ticketExpired)
        case .alreadyEnrolled: throw ProblemDetails(.alreadyEnrolled)
        case .tooManyDevices: throw ProblemDetails(.tooManyDevices)
        case .blocked: throw ProblemDetails(.enrollmentBlocked)
        case .pushTokenInUse: throw ProblemDetails(.pushTokenInUse)
        }
    }

    /// What a client has set for the devices of its users.
    private func policies(of client: ClientID) async throws -> EnrollmentPolicies {
        let client = try await ports.store.read { try $0.clients.find(client) }
        return EnrollmentPolicies(
            pin: client?.pinPolicy ?? .standard,
            devices: client?.deviceLimit.map {
                EnrollmentPolicies.DeviceLimit(maximum: $0.maximum, replacesOldest: $0.replacesOldest)
            },
            authenticators: client?.authenticators.map(\.name) ?? [])
    }

    private func pending(for call: DeviceCall, by incoming: Incoming) async throws -> Response {
        let cursor = incoming.query["cursor"]
        guard let seconds = try incoming.wait() else {
            return try await reply(PendingChallenges.list(for: call, ports: ports))
        }
        let beginning = try await PendingChallenges.list(
            for: call, waitingUntil: ports.time.now.adding(seconds: seconds), since: cursor,
            changes: resources.changes(for: incoming.context), ports: ports)
        switch beginning {
        case .ended(let outcome): return try await reply(outcome)
        case .waiting(let wait):
            return incoming.context.later.answer { [self] in
                try await waits.waiting(as: "\(wait.enrollment)", atMost: Self.maximumDeviceWaits) {
                    try await reply(wait.outcome(ports: ports))
                }
            }
        }
    }

    private func reply(_ outcome: PendingChallenges.Outcome) async throws -> Response {
        switch outcome {
        case .list(let announcements, let cursor):
            return Response(json: ["challenges": .array(announcements.map(\.payload)), "cursor": .string(cursor)])
        case .refused(let refusal): throw try await problem(refusal)
        }
    }

    private func problem(ofClaiming code: ChallengeCode, by call: DeviceCall) async throws -> ProblemDetails? {
        switch try await ClaimChallenge.claim(code, by: call, ports: ports) {
        case .claimed: nil
        case .refused(let refusal): try await problem(refusal)
        case .codeInvalid: ProblemDetails(.codeInvalid)
        case .codeExpired: ProblemDetails(.codeExpired)
        case .alreadyClaimed: ProblemDetails(.alreadyClaimed)
        case .alreadyEnded(let status): ProblemDetails(ended: status)
        case .waiting: ProblemDetails(.enrollmentWaiting)
        case .userNotLinked: ProblemDetails(.userNotLinked)
        case .methodMissing(let methods):
            ProblemDetails(
                .methodMissing, members: ["methods": .array(methods.map { .string($0.rawValue) })])
        case .rateLimited(let seconds): ProblemDetails(.rateLimited, members: ["retry_after": .integer(seconds)])
        }
    }

    private func answer(_ request: AnswerRequest, to id: ChallengeID, by call: DeviceCall) async throws -> Response {
        switch try await AnswerChallenge.answer(request, to: id, by: call, ports: ports) {
        case .decided(let reply): return Response(json: reply.json)
        case .refused(let refusal): throw try await problem(refusal)
        case .notFound: throw ProblemDetails(.challengeNotFound)
        case .alreadyEnded(let status): throw ProblemDetails(ended: status)
        case .invalid(let fault):
            // Who develops a device has a server of their own; others must not learn what helps to forge.
            throw ProblemDetails(.answerInvalid, detail: isDevelopment ? fault.words : nil)
        case .pinIncorrect(let attemptsLeft): throw ProblemDetails(pinIncorrect: attemptsLeft)
        case .pinLocked: throw ProblemDetails(.pinLocked)
        case .customRetry(let reply):
            throw ProblemDetails(.customRetry, payload: reply.payload, attemptsLeft: reply.attemptsLeft)
        case .customFailed(let payload): throw ProblemDetails(.customFailed, payload: payload)
        case .customNotRegistered: throw ProblemDetails(.customNotRegistered)
        case .customUnavailable: throw ProblemDetails(.customUnavailable)
        case .rateLimited(let seconds): throw ProblemDetails(.rateLimited, members: ["retry_after": .integer(seconds)])
        }
    }

    private func change(_ request: MethodChangeRequest, by call: DeviceCall) async throws -> Response {
        switch try await ChangeMethods.change(request, by: call, ports: ports) {
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
        case .rateLimited(let seconds): throw ProblemDetails(.rateLimited, members: ["retry_after": .integer(seconds)])
        }
    }
}

extension ProblemDetails {
    init(pinIncorrect attemptsLeft: Int) {
        self.init(.pinIncorrect, members: ["attempts_left": .integer(Int64(attemptsLeft))])
    }

    /// What a custom authenticator says.
    fileprivate init(_ code: ProblemCode, payload: String?, attemptsLeft: Int? = nil) {
        self.init(
            code,
            members: JSONObject([
                "attempts_left": attemptsLeft.map { .integer(Int64($0)) }, "payload": payload.map(JSONValue.string),
            ]))
    }
}
