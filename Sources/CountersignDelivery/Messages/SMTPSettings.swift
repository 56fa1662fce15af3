package import CountersignWire
package import Encodings

/// The mail server through which a deployment sends mail.
package struct SMTPSettings: Sendable {
    /// How the connection to the server is protected.
    package enum Security: String, CaseIterable, Sendable {
        /// STARTTLS after the greeting; without it, nothing is sent.
        ///
        /// Spec: RFC 3207 §4.
        case starttls
        /// TLS from the first byte.
        ///
        /// Spec: RFC 8314 §3.3.
        case implicit
        /// No protection, for a server on the same machine or in a private network.
        case none

        /// The default port.
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

    /// The user name and password for the server.
    ///
    /// Spec: RFC 4954 §4.
    package struct Credentials: Sendable {
        package let username: String
        package let password: Secret<String>

        package init(username: String, password: Secret<String>) {
            self.username = username
            self.password = password
        }
    }

    /// The server's host name or address.
    package var host: String
    /// The port; nil for the default port.
    package var port: Int?
    package var security: Security
    /// The credentials; nil for a server without authentication.
    package var credentials: Credentials?
    /// The sender's address.
    package var from: EmailAddress
    /// A file of trusted certificates, used instead of the system's.
    package var authorities: String?

    package init(host: String, port: Int? = nil, security: Security = .starttls, from: EmailAddress) {
        self.host = host
        self.port = port
        self.security = security
        self.from = from
    }

    /// The URL for libcurl: the server, and as its path the name for the EHLO greeting.
    var url: String {
        let literal = host.contains(":") ? "[\(host)]" : host
        return "\(security == .implicit ? "smtps" : "smtp")://\(literal):\(port ?? security.port)/\(from.asciiDomain)"
    }
}
