package import CountersignWire
package import Encodings

/// The mail server that takes a deployment's mail.
package struct SMTPSettings: Sendable {
    /// How the way to the server is secured.
    package enum Security: String, CaseIterable, Sendable {
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
        package var port: Int {
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
    package struct Credentials: Sendable {
        /// The name.
        package let username: String
        /// The password.
        package let password: Secret<String>

        /// Credentials of these parts.
        package init(username: String, password: Secret<String>) {
            self.username = username
            self.password = password
        }
    }

    /// The server's name or address.
    package var host: String
    /// The port; nil for the usual one.
    package var port: Int?
    /// How the way to it is secured.
    package var security: Security
    /// What the server asks for; nil when it asks for nothing.
    package var credentials: Credentials?
    /// Whom mail is from.
    package var from: EmailAddress
    /// The file of the certificates to trust instead of the system's.
    package var authorities: String?

    /// Settings of these parts.
    package init(host: String, port: Int? = nil, security: Security = .starttls, from: EmailAddress) {
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
