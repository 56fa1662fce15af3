import Countersign
import CountersignWire
import Encodings
import Foundation

/// What a server that has lost a device's enrollment answers it; nil for a request that no enrollment signs.
func answerOfForgetfulServer(to request: TransportRequest) -> TransportResponse? {
    guard request.url.path().hasPrefix("/v1/enrollments/self") else { return nil }
    let problem: JSONValue = [
        "code": .string(ProblemCode.unknownEnrollment.rawValue), "status": 401, "title": "Unknown enrollment",
    ]
    return TransportResponse(status: 401, headers: [:], body: problem.encoded)
}
