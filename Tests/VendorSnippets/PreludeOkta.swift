// swift-format-ignore-file
import DeviceAuthenticator
import Foundation
import Synchronization

// What the samples of Okta's document take from elsewhere: another library's sign-in, and the app in whose class they stand.

/// The sign-in of Okta's mobile SDK: what the samples read of it.
package struct Credential: Sendable {
    package struct OAuth2: Sendable {
        package struct Configuration: Sendable {
            let clientId: String
        }

        let baseURL: URL
        let configuration: Configuration
    }

    package struct Token: Sendable {
        let accessToken: String
    }

    /// Who is signed in; each test has its own.
    @TaskLocal private static var current: Credential?

    static var `default`: Credential? { current }

    /// Runs something while somebody is signed in.
    package static func signedIn(_ credential: Credential, _ body: () -> Void) {
        $current.withValue(credential) { body() }
    }

    let oauth2: OAuth2
    let token: Token

    package init(baseURL: URL, clientID: String, accessToken: String) {
        oauth2 = OAuth2(baseURL: baseURL, configuration: OAuth2.Configuration(clientId: clientID))
        token = Token(accessToken: accessToken)
    }
}

/// The app's own parts of the class in which the samples stand, which an app would confine to its main thread.
package class OktaApp: @unchecked Sendable {
    private let complete: @Sendable (DeviceAuthenticator.ApplicationConfig) -> Void
    private let events = Mutex([String]())
    package var authenticatorClient: (any DeviceAuthenticatorProtocol)?
    package var notificationSessionToken: Data?
    /// The configuration that a sample has made.
    package private(set) var config: DeviceAuthenticator.ApplicationConfig?

    /// - Parameter complete: completes the configuration that a sample makes, by what the system would give.
    package init(_ complete: @escaping @Sendable (DeviceAuthenticator.ApplicationConfig) -> Void) {
        self.complete = complete
    }

    /// Hides the library's initializer, since Linux has no Secure Enclave.
    func ApplicationConfig(
        applicationName: String, applicationVersion: String, applicationGroupId: String
    ) -> DeviceAuthenticator.ApplicationConfig {
        let made = DeviceAuthenticator.ApplicationConfig(
            applicationName: applicationName, applicationVersion: applicationVersion,
            applicationGroupId: applicationGroupId)
        complete(made)
        config = made
        return made
    }

    func getAccessToken(_ body: (String) -> Void) {
        body(Credential.default?.token.accessToken ?? "")
    }

    /// Notes what a sample leaves to the app.
    func note(_ event: String) {
        events.withLock { $0.append(event) }
    }

    /// What was noted, once there is something.
    package func noted() async throws -> [String] {
        while true {
            let noted = events.withLock { $0 }
            if !noted.isEmpty { return noted }
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}
