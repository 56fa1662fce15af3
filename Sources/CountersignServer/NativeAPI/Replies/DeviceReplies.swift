import CountersignCore
import CountersignWire
import Encodings
import Hummingbird

/// The replies to devices, about their enrollments.
extension NativeAPI {
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

    func reply(_ outcome: AskOwnSignIn.Outcome) async throws -> Response {
        switch outcome {
        case .asked(let challenge): return Response(json: ["challenge": .string("\(challenge)")], status: 201)
        case .refused(let refusal): throw try await problem(refusal)
        case .waiting: throw ProblemDetails(.enrollmentWaiting)
        case .methodMissing: throw ProblemDetails(.methodMissing, members: ["methods": ["biometric", "pin"]])
        case .notConfirmed: throw ProblemDetails(.enrollmentNotConfirmed)
        case .userNotLinked: throw ProblemDetails(.userNotLinked)
        case .clientGone: throw ProblemDetails(.clientNotFound)
        case .tooMany(let seconds): throw ProblemDetails(retryAfter: seconds)
        }
    }

    func reply(_ outcome: ExchangeForTicket.Outcome, to scheme: TokenScheme) throws -> Response {
        switch outcome {
        case .created(let created): return Response(json: created.json, status: 201)
        case .invalidToken: throw RequestRefusal.invalidToken(scheme)
        case .replayed: throw UnprovedToken(refusal: .replayed)
        case .scopeMissing: throw ProblemDetails(.scopeMissing, members: ["scope": .string(Ticket.scope)])
        case .tooOld: throw ProblemDetails(.signInTooOld)
        case .tooWeak: throw ProblemDetails(.signInTooWeak)
        case .spent: throw ProblemDetails(.ticketUsed)
        case .ended: throw ProblemDetails(.ticketInvalid)
        case .blocked: throw ProblemDetails(.enrollmentBlocked)
        }
    }

    private func policies(_ outcome: ShowPolicies.Outcome) -> EnrollmentPolicies {
        switch outcome {
        case .policies(let policies): policies
        }
    }

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

    func reply(_ outcome: UndoMethod.Outcome) async throws -> Response {
        switch outcome {
        case .undone: return Response(status: .noContent)
        case .refused(let refusal): throw try await problem(refusal)
        case .waiting: throw ProblemDetails(.enrollmentWaiting)
        case .notFound: throw ProblemDetails(.enrollmentNotFound)
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
        case .proof(let error): return ProblemDetails(proof: error)
        case .unknownEnrollment: return ProblemDetails(.unknownEnrollment)
        case .nonceReplayed: return ProblemDetails(.nonceReplayed)
        case .tooManyReads(let seconds): return ProblemDetails(retryAfter: seconds)
        case .clockSkew(let serverTime):
            return ProblemDetails(.clockSkew, members: ["server_time": .string("\(serverTime)")])
        case .suspended: return ProblemDetails(.enrollmentSuspended)
        case .deregistered(let notice):
            let signed = try await ports.keys.current().sign(notice, at: ports.time.now)
            return ProblemDetails(.deviceDeregistered, members: ["notice": .string(signed)])
        }
    }
}
