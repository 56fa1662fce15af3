public import Encodings

/// What the QR code of a challenge carries to the device that scans it: base64 of JSON; or a link, where the device is
/// the one on which this was started.
///
/// Whoever presents it first is asked. It names no server: a device sends it to the one it is enrolled with and to no
/// other. Its one-time password says whether it is a picture or a link, since what is approved by a link is held back
/// until the browser that asked has been returned to: a picture made into a link would get round that.
/// Spec: design 3.7.
public struct ChallengeCode: Sendable {
    /// How a code comes to a device.
    public enum Form: String, CaseIterable, Sendable {
        /// As a picture, which the app's own scanner reads.
        case picture = "qr"
        /// As a link, which is opened on the device itself.
        case link

        /// What the one-time passwords of such codes begin with.
        public var marker: String { "\(rawValue)." }
    }

    /// How long a one-time password works, in seconds; who shows the code shows a new one before.
    ///
    /// Spec: design 3.7.
    public static let lifetime: Int64 = 60

    /// The challenge.
    public let challenge: ChallengeID
    /// The one-time password, its marker included.
    public let otp: Secret<String>
    /// How it travels, or how it came.
    public let form: Form

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

    /// The body of `POST /v1/challenges/claim`: the code, and how it came.
    public var claim: JSONValue {
        ["transaction_id": .string("\(challenge)"), "otp": .string(otp.reveal()), "via": .string(form.rawValue)]
    }

    /// The text that a QR code holds, the one-time password in it.
    public var text: String { Base64.encode(json.encoded) }

    /// Reads the text of a QR code, or nil when it is another one's; or a link's.
    public init?(_ text: some StringProtocol) {
        guard let bytes = Base64.decode(text) else { return nil }
        self.init(bytes, as: .picture)
    }

    /// The code as a link to an issuer; what stands behind `#` is sent to no server.
    public func link(to issuer: Issuer) -> String { "\(issuer)/q#\(Base64URL.encode(json.encoded))" }

    /// Reads a link, or nil when it leads elsewhere than to this issuer; or was made of a picture.
    public init?(link: String, to issuer: Issuer) {
        let beginning = "\(issuer)/q#"
        guard link.hasPrefix(beginning), let bytes = Base64URL.decode(String(link.dropFirst(beginning.count))) else {
            return nil
        }
        self.init(bytes, as: .link)
    }

    /// Reads the body of a claim.
    ///
    /// Whether the one-time password is one of codes that come so is for who made it to say.
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
