public import Encodings

/// An error in the form in which HTTP replies carry it: `application/problem+json`.
///
/// Spec: RFC 9457.
public struct ProblemDetails: Error, Hashable, Sendable {
    /// The media type.
    public static let mediaType = "application/problem+json"

    /// The stable code; a text, because a newer server may know more codes.
    public let code: String
    /// The HTTP status.
    public let status: Int
    /// What happened, in a few words: the same for every problem of this code.
    public let title: String
    /// What happened this time.
    public let detail: String?
    /// The id by which the request is found in the server's log.
    public let requestID: String?
    /// Members that only this error has, such as `retry_after`.
    public let members: JSONValue

    /// A problem of a known code.
    public init(
        _ code: ProblemCode, detail: String? = nil, requestID: String? = nil, members: JSONObject = JSONObject()
    ) {
        self.code = code.rawValue
        status = code.meaning.status
        title = code.meaning.title
        self.detail = detail
        self.requestID = requestID
        self.members = .object(members)
    }

    /// The known code, or nil.
    public var knownCode: ProblemCode? { ProblemCode(rawValue: code) }

    /// A member that only this error has.
    public subscript(member: String) -> JSONValue? { members[member] }

    /// The problem as JSON.
    ///
    /// - Parameters:
    ///   - issuer: the server whose documentation `type` links to.
    ///   - requestID: the id by which the request is found in the log.
    public func json(issuer: Issuer, requestID: String) -> JSONValue {
        var object = JSONObject([
            "type": .string("\(issuer)/docs/errors#\(code)"), "title": .string(title),
            "status": .integer(Int64(status)), "code": .string(code), "detail": detail.map(JSONValue.string),
            "request_id": .string(requestID),
        ])
        for member in members.object?.members ?? [] { object[member.name] = member.value }
        return .object(object)
    }

    /// Reads a problem, or nil when the body is not one.
    public init?(_ json: JSONValue) {
        guard let code = json["code"]?.string, let status = json["status"]?.integer, let title = json["title"]?.string
        else { return nil }
        self.code = code
        self.status = Int(clamping: status)
        self.title = title
        detail = json["detail"]?.string
        requestID = json["request_id"]?.string
        members = json
    }
}

extension ProblemDetails: CustomStringConvertible {
    /// Title with detail, and cure, each in one line, for a person; text from a server cannot begin a line of its own.
    public var description: String {
        [ShownText.line(title + (detail.map { ": \($0)" } ?? "")), knownCode?.meaning.cure].compactMap { $0 }
            .joined(separator: "\n")
    }
}

/// Problems of other errors.
///
/// Each initializer has a label. Other errors have cases with the names of codes: without a label, `.invalidUTF8` would
/// mean the initializer itself, which would call itself until the stack overflows.
extension ProblemDetails {
    /// The problem of a JSON value of the wrong shape.
    public init(shape error: JSONShapeError) {
        switch error {
        case .missing(let pointer):
            self.init(.missingMember, detail: "\(pointer) is missing", members: ["pointer": .string(pointer)])
        case .invalid(let pointer, let expected):
            self.init(
                .invalidMember, detail: "\(pointer.isEmpty ? "the body" : pointer) must be \(expected)",
                members: ["pointer": .string(pointer)])
        case .unknownMember(let pointer):
            self.init(.unknownMember, detail: "\(pointer) is not known", members: ["pointer": .string(pointer)])
        }
    }

    /// The problem of bytes that are not JSON.
    public init(syntax error: JSONSyntaxError) {
        switch error {
        case .invalidUTF8: self.init(.invalidUTF8)
        case .unexpected(let offset): self.init(.malformedJSON, detail: "unexpected character or end at byte \(offset)")
        case .trailingData(let offset): self.init(.malformedJSON, detail: "something after the value at byte \(offset)")
        case .tooDeep(let offset): self.init(.malformedJSON, detail: "nested too deeply at byte \(offset)")
        case .duplicateMember(let name): self.init(.malformedJSON, detail: "the name \"\(name)\" stands twice")
        case .unpairedSurrogate(let offset): self.init(.malformedJSON, detail: "unpaired surrogate at byte \(offset)")
        case .numberOutOfRange(let offset): self.init(.malformedJSON, detail: "number out of range at byte \(offset)")
        }
    }
}
