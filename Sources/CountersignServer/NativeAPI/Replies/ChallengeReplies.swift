import CountersignCore
import CountersignWire
import Encodings
import Hummingbird

/// The replies of operations on challenges, to relying parties.
extension NativeAPI {
    func checked(_ refusal: CallerRefusal?) throws(ProblemDetails) {
        if let refusal { throw ProblemDetails(caller: refusal) }
    }

    func json(_ outcome: AskChallenge.Outcome) throws(ProblemDetails) -> JSONValue {
        try asked(outcome).json(ports.issuer)
    }

    func asked(_ outcome: AskChallenge.Outcome) throws(ProblemDetails) -> AskedChallenge {
        switch outcome {
        case .asked(let asked): return asked
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
