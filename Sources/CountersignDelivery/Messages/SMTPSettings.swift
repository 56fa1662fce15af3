public import CountersignWire
public import Encodings

/// The mail server that takes a deployment's mail.
public struct SMTPSettings: Sendable {
    /// How the way to the server is secured.
    public enum Security: String, CaseIterable, Sendable {
        /// TLS is asked for after the greeting, and nothing is sent without it.
        ///
        /// Spec: RFC 3207 §4.
        case starttls
        /// TLS from the first byte.
        ///
        /// Spec: RFC 8314 §3.3.
        case implicit
        /// None at all: for a server on the same machine or in a network of one's own.
        case none

        /// The port where servers take mail secured so.
        ///
        /// Spec: RFC 6409 §3.1, RFC 8314 §7.3, RFC 5321 §4.5.4.2.
        public var port: Int {
            switch self {
            case .starttls: 587
            case .implicit: 465
            case .none: 25
            }
        }
    }

    /// What the server asks for.
    ///
    /// Spec: RFC 4954 §4.
    public struct Credentials: Sendable {
        /// The name.
        public let username: String
        /// The password.
        public let password: Secret<String>

        /// Credentials of these parts.
        public init(username: String, password: Secret<String>) {
            self.username = username
            self.password = password
        }
    }

    /// The server's name or address.
    public var host: String
    /// The port; nil for the usual one.
    public var port: Int?
    /// How the way to it is secured.
    public var security: Security
    /// What the server asks for; nil when it asks for nothing.
    public var credentials: Credentials?
    /// Whom mail is from.
    public var from: EmailAddress
    /// The file of the certificates to trust instead of the system's.
    public var authorities: String?

    /// Settings of these parts.
    public init(host: String, port: Int? = nil, security: Security = .starttls, from: EmailAddress) {
        self.host = host
        self.port = port
        self.security = security
        self.from = from
    }

    /// Where to connect, and by what name to greet, which is the last part.
    var url: String {
        let literal = host.contains(":") ? "[\(host)]" : host
        return "\(security == .implicit ? "smtps" : "smtp")://\(literal):\(port ?? security.port)/\(from.asciiDomain)"
    }
}
