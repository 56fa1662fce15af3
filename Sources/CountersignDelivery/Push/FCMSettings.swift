import CountersignWire
import Encodings
package import JOSE

/// What an operator has from Google, to send pushes to the apps of one Firebase project.
///
/// Spec: FCM HTTP v1.
package struct FCMSettings: Sendable {
    /// Why the text of a service account is not taken.
    package enum Refusal: Error, Equatable, Sendable {
        /// It is not JSON, or not that of a service account.
        case notAServiceAccount
        /// A member is missing, or is not what it must be.
        case member(String)
    }

    /// What the account may do: send messages.
    static let scope = "https://www.googleapis.com/auth/firebase.messaging"

    /// The project's id.
    package let project: String
    /// The account's address.
    package let account: String
    /// The name of the key.
    package let keyID: String
    /// The key.
    package let key: RSAPrivateKey
    /// Where assertions are exchanged for tokens.
    package let tokenURL: String
    /// Where messages are sent: `https://host[:port]`.
    package let url: String
    /// The file of the certificates to trust instead of the system's; for a test.
    package let authorities: String?

    /// Reads a service account's key file, as the console gives it.
    ///
    /// - Parameters:
    ///   - json: the file.
    ///   - url: where to send instead of Google's address.
    ///   - authorities: the file of the certificates to trust instead of the system's.
    package init(
        serviceAccount json: [UInt8], url: String? = nil, authorities: String? = nil
    ) throws(Refusal) {
        guard let json = try? JSONValue(parsing: json), json["type"] == "service_account" else {
            throw .notAServiceAccount
        }
        func text(_ name: String) throws(Refusal) -> String {
            guard let text = json[name]?.string, !text.isEmpty else { throw .member(name) }
            return text
        }
        project = try text("project_id")
        // It stands in a path.
        guard project.utf8.allSatisfy({ $0.isLetterOrDigit || $0 == UInt8(ascii: "-") }) else {
            throw .member("project_id")
        }
        account = try text("client_email")
        keyID = try text("private_key_id")
        do { key = try RSAPrivateKey(pemRepresentation: Secret(try text("private_key"))) } catch {
            throw .member("private_key")
        }
        tokenURL = try text("token_uri")
        guard tokenURL.hasPrefix("https://") else { throw .member("token_uri") }
        self.url = url ?? "https://fcm.googleapis.com"
        self.authorities = authorities
    }
}
