public import Encodings

/// The code of a challenge: a QR code for the device that scans it (base64 of JSON), or a link for the device on which
/// the challenge was started.
///
/// The challenge goes to the first device that presents the code. The code names no server: a device sends it only to
/// the server with which it is enrolled. The one-time password says whether the code is a picture or a link. An
/// approval by a link takes effect only after the browser that asked has returned; a picture turned into a link must
/// not avoid that. Spec: docs/protocol/codes-and-links.md, *The code*.
public struct ChallengeCode: Equatable, Sendable {
    /// How a code reaches a device.
    public enum Form: String, CaseIterable, Sendable {
        /// As a picture, which the app's own scanner reads.
        case picture = "qr"
        /// As a link, which is opened on the device itself.
        case link

        /// The prefix of the one-time passwords of such codes.
        public var marker: String { "\(rawValue)." }
    }

    /// How long a one-time password is valid, in seconds; the page that shows the code replaces it before that.
    ///
    /// Spec: docs/protocol/codes-and-links.md, *The code*.
    public static let lifetime: Int64 = 60

    /// The challenge.
    public let challenge: ChallengeID
    /// The one-time password, with its marker.
    public let otp: Secret<String>
    /// How the code is sent, or how it arrived.
    public let form: Form

    /// Whether two codes are the same; compares one-time passwords in constant time.
    public static func == (one: ChallengeCode, other: ChallengeCode) -> Bool {
        one.challenge == other.challenge && one.form == other.form && one.otp.isSame(as: other.otp)
    }

    /// A code of these parts.
    public init(challenge: ChallengeID, otp: Secret<String>, form: Form) {
        self.challenge = challenge
        self.otp = otp
        self.form = form
    }

    /// The code as JSON.
    public var json: JSONValue {
        ["transaction_id": .string("\(challenge)"), "otp": .string(otp.reveal())]
    }

    /// The body of `POST /v1/challenges/claim`: the code, and how it arrived.
    public var claim: JSONValue {
        ["transaction_id": .string("\(challenge)"), "otp": .string(otp.reveal()), "via": .string(form.rawValue)]
    }

    /// The text of the QR code, which contains the one-time password.
    public var text: String { Base64.encode(json.encoded) }

    /// Reads the text of a QR code; nil for another system's code, and for the code of a link.
    public init?(_ text: some StringProtocol) {
        guard let bytes = Base64.decode(text) else { return nil }
        self.init(bytes, as: .picture)
    }

    /// The code as a link to an issuer; the part after `#` is sent to no server.
    public func link(to issuer: Issuer) -> String { "\(issuer)/q#\(Base64URL.encode(json.encoded))" }

    /// Reads a link; nil if it leads to another issuer or was made of a picture.
    public init?(link: String, to issuer: Issuer) {
        let beginning = "\(issuer)/q#"
        guard link.hasPrefix(beginning), let bytes = Base64URL.decode(String(link.dropFirst(beginning.count))) else {
            return nil
        }
        self.init(bytes, as: .link)
    }

    /// Reads the body of a claim.
    ///
    /// The server that made the one-time password must still check that it fits the form.
    public init(claim json: JSONValue) throws(JSONShapeError) {
        var members = try JSONMembers(json)
        let form = try members.required("via", "\"qr\" or \"link\"") { $0.string.flatMap(Form.init(rawValue:)) }
        self = try members.code(form)
        try members.refuseUnknown()
    }

    private init?(_ bytes: [UInt8], as form: Form) {
        guard let json = try? JSONValue(parsing: bytes), var members = try? JSONMembers(json),
            let code = try? members.code(form), (try? members.refuseUnknown()) != nil,
            code.otp.reveal().utf8.starts(with: form.marker.utf8)
        else { return nil }
        self = code
    }
}

extension JSONMembers {
    /// The two members of a code.
    fileprivate mutating func code(_ form: ChallengeCode.Form) throws(JSONShapeError) -> ChallengeCode {
        ChallengeCode(
            challenge: try required("transaction_id", "a challenge id") { $0.string.flatMap { ChallengeID($0) } },
            otp: Secret(try string("otp")), form: form)
    }
}
