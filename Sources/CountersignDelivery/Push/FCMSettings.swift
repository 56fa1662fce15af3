import CountersignWire
import Encodings
package import JOSE

/// The credentials from Google for sending pushes to the apps of one Firebase project.
///
/// Spec: FCM HTTP v1.
package struct FCMSettings: Sendable {
    /// The key file of a service account is invalid.
    package enum Refusal: Error, Equatable, Sendable {
        /// It is not JSON, or not of a service account.
        case notAServiceAccount
        /// A member is missing or invalid.
        case member(String)
    }

    /// The permission to send messages.
    static let scope = "https://www.googleapis.com/auth/firebase.messaging"

    /// The id of the project.
    package let project: String
    /// The email address of the account.
    package let account: String
    /// The id of the key.
    package let keyID: String
    /// The private key.
    package let key: RSAPrivateKey
    /// The URL that exchanges assertions for access tokens.
    package let tokenURL: String
    /// The base URL for messages: `https://host[:port]`.
    package let url: String
    /// A file of trusted certificates, used instead of the system's; for tests.
    package let authorities: String?

    /// Reads the key file of a service account, as the Google console creates it.
    ///
    /// - Parameters:
    ///   - json: the content of the file.
    ///   - url: a base URL to use instead of Google's.
    ///   - authorities: a file of trusted certificates, used instead of the system's.
    /// - Throws: ``Refusal``.
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
        // It becomes part of a URL's path.
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
