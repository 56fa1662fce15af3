import CountersignCore
import CountersignWire
import Encodings
import Hummingbird

/// The replies to devices, about challenges.
extension NativeAPI {
    func reply(_ outcome: PendingChallenges.Outcome) async throws -> Response {
        switch outcome {
        case .list(let entries, let cursor):
            return Response(json: ["challenges": .array(entries.map(\.json)), "cursor": .string(cursor)])
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
        case .notConfirmed: throw ProblemDetails(.enrollmentNotConfirmed)
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
}
