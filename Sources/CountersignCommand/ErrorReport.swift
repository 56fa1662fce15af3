import ArgumentParser
import Countersign
import CountersignServer
import CountersignWire
import Encodings

/// The report of an error: sentences for a person, one line of JSON for a script.
struct ErrorReport {
    /// The report for a person.
    let text: String
    /// The exit status of the tool.
    let status: ExitStatus
    /// The report for a script: `code`, `detail`, and further members.
    let json: JSONValue

    /// The report of any error that a command throws.
    init(_ error: any Error) {
        switch error {
        case let error as CommandError:
            self.init("\(error)", error.status, code: error.status.code)
        case let error as StartError:
            self.init("\(error)", .refused, code: "start_failed")
        case let error as ConfigurationFaults:
            self.init(
                "\(error)", .usage, code: "configuration_invalid",
                ["faults": .array(error.faults.map(\.json))])
        case let problem as ProblemDetails:
            self.init(
                "\(problem)", .refused, code: problem.code, detail: problem.detail ?? problem.title,
                problem.reported)
        case let error as CountersignError:
            var members = error.reported
            members["suggestion"] = .string(error.suggestion)
            self.init(
                "\(ShownText.line("\(error)"))\n\(error.suggestion)", error.isOfTheNetwork ? .unreachable : .refused,
                code: error.code,
                detail: "\(error)", members)
        default:
            let message = CountersignTool.fullMessage(for: error)
            let short = CountersignTool.message(for: error)
            self.init(
                message.isEmpty ? "\(error)" : message, .usage, code: ExitStatus.usage.code,
                detail: short.isEmpty ? "\(error)" : short)
        }
    }

    private init(
        _ text: String, _ status: ExitStatus, code: String, detail: String? = nil, _ members: JSONObject = JSONObject()
    ) {
        self.text = text
        self.status = status
        var object = JSONObject(["code": .string(code), "detail": .string(detail ?? text)])
        for member in members.members { object[member.name] = member.value }
        json = .object(object)
    }
}

extension ExitStatus {
    /// The code of an error that the tool itself detects.
    fileprivate var code: String {
        switch self {
        case .done: "done"
        case .refused: "refused"
        case .usage: "usage"
        case .unreachable: "unreachable"
        }
    }
}

extension ProblemDetails {
    /// The members of this error only, such as `attempts_left`, and the id by which the request is found in the
    /// server's log.
    fileprivate var reported: JSONObject {
        var object = JSONObject()
        for member in members.object?.members ?? []
        where !["type", "title", "status", "code", "detail"].contains(member.name) {
            object[member.name] = member.value
        }
        object["request_id"] = requestID.map(JSONValue.string)
        object["suggestion"] = knownCode.map { .string($0.meaning.cure) }
        return object
    }
}

extension CountersignError {
    fileprivate var isOfTheNetwork: Bool {
        switch self {
        case .network, .serverUnreachable: true
        default: false
        }
    }

    /// The members of this error only, in the terms of the API.
    fileprivate var reported: JSONObject {
        switch self {
        case .pinIncorrect(let attemptsLeft): ["attempts_left": .integer(Int64(attemptsLeft))]
        case .customRetry(let attemptsLeft, let payload):
            JSONObject([
                "attempts_left": attemptsLeft.map { .integer(Int64($0)) }, "payload": payload.map(JSONValue.string),
            ])
        case .customFailed(let payload): JSONObject(["payload": payload.map(JSONValue.string)])
        case .challengeEnded(let state, let reason):
            JSONObject(["state": .string(state), "reason": reason.map(JSONValue.string)])
        case .deviceDeregistered(let removal): ["reason": .string(removal.reason)]
        case .methodMissing(let methods): ["methods": .array(methods.map { .string($0.rawValue) })]
        case .numberRequired(let length): ["number_length": .integer(Int64(length))]
        case .server(let problem): problem.reported
        default: [:]
        }
    }
}
