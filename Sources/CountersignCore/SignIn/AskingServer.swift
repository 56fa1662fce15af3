package import CountersignWire
package import Encodings

// How the request of a client's server is found, and what it has said.
//
// Spec: CIBA Core 1.0 §7; docs/decisions/0092-ciba.md.

/// A client's server that has named a person, whose devices are asked.
package struct AskingServer: Hashable, Sendable {
    /// What the person reads on both devices; nil for the text of the challenge type.
    ///
    /// Spec: CIBA Core 1.0 §7.1 (`binding_message`).
    package let message: DisplayMessage?
    /// Where the person is, as the client says; nil where it does not.
    ///
    /// Spec: FAPI-CIBA §5.2.2 (`request_context`).
    package let context: ContextLine?
    /// By what the client knows that we tell it something; nil where it polls.
    package let notificationToken: NotificationToken?
    /// What is kept of the code that it has brought; nil for none.
    ///
    /// Spec: CIBA Core 1.0 §7.1 (`user_code`).
    package let userCode: KeyedHash?
    /// Whether the client shows a number, which the person types on their device.
    package let showsNumber: Bool
    /// Whether the client was to be brought its tokens when it asked.
    ///
    /// Spec: CIBA Core 1.0 §5.
    package let isPush: Bool

    /// A server that has said this.
    package init(
        message: DisplayMessage? = nil, context: ContextLine? = nil, notificationToken: NotificationToken? = nil,
        userCode: KeyedHash? = nil, showsNumber: Bool = true, isPush: Bool = false
    ) {
        self.showsNumber = showsNumber
        self.isPush = isPush
        self.message = message
        self.context = context
        self.notificationToken = notificationToken
        self.userCode = userCode
    }
}

/// The form in which a row holds it, sealed with the rest of a wish.
extension AskingServer {
    var json: JSONValue {
        .members([
            "message": message.map { .string($0.text) }, "context": context?.json,
            "notification_token": notificationToken.map { .string($0.text.reveal()) },
            "user_code": userCode.map { .string(Base64URL.encode($0.bytes)) }, "number": .bool(showsNumber),
            "push": isPush ? true : nil,
        ])
    }

    /// Reads the form; nil if it is malformed.
    init?(_ json: JSONValue) {
        guard json.object != nil else { return nil }
        self.init(
            message: json["message"]?.string.flatMap { try? DisplayMessage($0) },
            context: json["context"].flatMap { ContextLine($0) },
            notificationToken: json["notification_token"]?.string.flatMap { NotificationToken($0) },
            userCode: json["user_code"]?.string.flatMap { Base64URL.decode($0) }.map { KeyedHash(stored: $0) },
            showsNumber: json["number"]?.bool ?? true, isPush: json["push"]?.bool ?? false)
    }
}

/// The bearer token by which a client's server knows that we tell it something about one request.
///
/// Spec: CIBA Core 1.0 §7.1 (`client_notification_token`).
package struct NotificationToken: Sendable {
    /// How long it may be.
    private static let longest = 1024

    /// The token.
    package let text: Secret<String>

    /// Accepts a token; nil for what cannot be sent as one.
    ///
    /// Spec: RFC 6750 §2.1 (`b64token`).
    package init?(_ text: String) {
        let bytes = text.utf8
        let end = bytes.firstIndex(of: UInt8(ascii: "=")) ?? bytes.endIndex
        // check: BackchannelTests.notificationTokens
        guard bytes.count <= Self.longest, end > bytes.startIndex else { return nil }
        let isPlain = bytes[..<end].allSatisfy { $0.isUnreserved || "+/".utf8.contains($0) }
        let isPadded = bytes[end...].allSatisfy { $0 == UInt8(ascii: "=") }
        // check: BackchannelTests.notificationTokens
        guard isPlain, isPadded else { return nil }
        self.text = Secret(text)
    }
}

extension NotificationToken: Hashable {
    package static func == (left: NotificationToken, right: NotificationToken) -> Bool {
        left.text.isSame(as: right.text)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(text.reveal()) }
}

extension KeyedHasher {
    /// The id of the request of a client's server: the sign-in, and a MAC over it.
    ///
    /// It need not be stored. Spec: CIBA Core 1.0 §7.3.
    func authRequestID(of signIn: AuthorizationID) -> Secret<String> {
        Secret("\(signIn).\(Base64URL.encode(code(of: "auth request \(signIn)")))")
    }

    /// The sign-in of a request's id; nil if its MAC is not valid.
    func signIn(ofAuthRequest text: Secret<String>) -> AuthorizationID? {
        signIn(in: text, madeBy: authRequestID)
    }
}
