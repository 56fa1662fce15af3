public import Encodings

/// The return code of an approval by a link, sealed to the approving device, as challenges are.
///
/// Anybody who could read the code in the reply, or replace it, would decide whose approval is released. Spec:
/// docs/protocol/codes-and-links.md, *Approval by a link*.
public struct ReturnMessage: Sendable {
    private static let version: Int64 = 1
    private static let kind = "return"

    /// The issuer.
    public let issuer: Issuer
    /// The challenge that was approved.
    public let challenge: ChallengeID
    /// The enrollment that approved it.
    public let enrollment: EnrollmentID
    /// The code.
    public let code: Secret<String>

    /// A message of these parts.
    public init(issuer: Issuer, challenge: ChallengeID, enrollment: EnrollmentID, code: Secret<String>) {
        self.issuer = issuer
        self.challenge = challenge
        self.enrollment = enrollment
        self.code = code
    }

    /// Whether it is about the approval of this challenge by this device.
    package func isFor(_ issuer: Issuer, _ challenge: ChallengeID, by enrollment: EnrollmentID) -> Bool {
        self.issuer == issuer && self.challenge == challenge && self.enrollment == enrollment
    }

    /// The message as JSON.
    public var json: JSONValue {
        [
            "v": .integer(Self.version), "kind": .string(Self.kind), "issuer": .string("\(issuer)"),
            "challenge": .string("\(challenge)"), "enrollment": .string("\(enrollment)"),
            "code": .string(code.reveal()),
        ]
    }

    /// Reads a message; unknown members are ignored, as in a challenge's body.
    public init(_ json: JSONValue) throws(JSONShapeError) {
        var members = try JSONMembers(json)
        _ = try members.required("v", "the version \(Self.version)") { $0.integer == Self.version ? true : nil }
        _ = try members.required("kind", "\"\(Self.kind)\"") { $0 == .string(Self.kind) ? true : nil }
        issuer = try members.required("issuer", "an issuer") { $0.string.flatMap { Issuer($0) } }
        challenge = try members.required("challenge", "a challenge id") { $0.string.flatMap { ChallengeID($0) } }
        enrollment = try members.required("enrollment", "an enrollment id") { $0.string.flatMap { EnrollmentID($0) } }
        // The code becomes part of a URL without escaping.
        code = try members.required("code", "base64url") { value in
            value.string.flatMap { Base64URL.decode($0)?.isEmpty == false ? Secret($0) : nil }
        }
    }
}
