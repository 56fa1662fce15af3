public import Encodings

/// What the QR code of a challenge carries to the device that scans it: base64 of JSON; or a link, where the device is
/// the one on which this was started.
///
/// Whoever presents it first is asked. It names no server: a device sends it to the one it is enrolled with and to no
/// other. Spec: design 3.7.
public struct ChallengeCode: Sendable {
    /// How long a one-time password works, in seconds; who shows the code shows a new one before.
    ///
    /// Spec: design 3.7.
    public static let lifetime: Int64 = 60

    /// The challenge.
    public let challenge: ChallengeID
    /// The one-time password.
    public let otp: Secret<String>

    /// A code of these parts.
    public init(challenge: ChallengeID, otp: Secret<String>) {
        self.challenge = challenge
        self.otp = otp
    }

    /// The code as JSON: the body of `POST /v1/challenges/claim`, too.
    public var json: JSONValue {
        ["transaction_id": .string("\(challenge)"), "otp": .string(otp.reveal())]
    }

    /// The text that a QR code holds, the one-time password in it.
    public var text: String { Base64.encode(json.encoded) }

    /// Reads the text of a QR code, or nil when it is another one's.
    public init?(_ text: some StringProtocol) {
        guard let bytes = Base64.decode(text), let json = try? JSONValue(parsing: bytes) else { return nil }
        try? self.init(json)
    }

    /// The code as a link to an issuer; what stands behind `#` is sent to no server.
    public func link(to issuer: Issuer) -> String { "\(issuer)/q#\(Base64URL.encode(json.encoded))" }

    /// Reads a link, or nil when it leads elsewhere than to this issuer.
    public init?(link: String, to issuer: Issuer) {
        let beginning = "\(issuer)/q#"
        guard link.hasPrefix(beginning), let bytes = Base64URL.decode(String(link.dropFirst(beginning.count))),
            let json = try? JSONValue(parsing: bytes)
        else { return nil }
        try? self.init(json)
    }

    /// Reads a code.
    public init(_ json: JSONValue) throws(JSONShapeError) {
        var members = try JSONMembers(json)
        challenge = try members.required("transaction_id", "a challenge id") { $0.string.flatMap { ChallengeID($0) } }
        otp = Secret(try members.string("otp"))
        try members.refuseUnknown()
    }
}
