import CountersignCore
import CountersignWire
import Encodings
import Hummingbird

/// The replies of operations on enrollments, to relying parties and operators.
extension NativeAPI {
    func json(_ outcome: CreateTicket.Outcome) throws(ProblemDetails) -> JSONValue {
        switch outcome {
        case .created(let created): created.json
        case .notFound: throw ProblemDetails(.userNotFound)
        case .blocked: throw ProblemDetails(.enrollmentBlocked)
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

    func reply(_ outcome: WaiveWait.Outcome) throws(ProblemDetails) -> Response {
        switch outcome {
        case .done: return Response(status: .noContent)
        case .notAllowed: throw ProblemDetails(.rightMissing, members: ["right": "waive_enrollment_approval"])
        case .notFound: throw ProblemDetails(.enrollmentNotFound)
        }
    }

    func reply(_ outcome: ConfirmEnrollment.Outcome) throws(ProblemDetails) -> Response {
        switch outcome {
        case .done: return Response(status: .noContent)
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
}
