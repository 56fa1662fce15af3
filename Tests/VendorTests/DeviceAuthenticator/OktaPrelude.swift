import DeviceAuthenticator
import Foundation
import Synchronization
import UserNotificationsStandIn

// What the snippets of Okta's document take from elsewhere: another library's sign-in, Apple's delegate, and the app itself.

/// The sign-in of Okta's mobile SDK: what the snippets read of it.
struct Credential: Sendable {
    struct OAuth2: Sendable {
        struct Configuration: Sendable {
            let clientId: String
        }

        let baseURL: URL
        let configuration: Configuration
    }

    struct Token: Sendable {
        let accessToken: String
    }

    /// Who is signed in; each test has its own.
    @TaskLocal static var current: Credential?

    static var `default`: Credential? { current }

    let oauth2: OAuth2
    let token: Token
}

/// The center of notifications, which the snippet is given and does not use.
final class UNUserNotificationCenter {}

/// What a notification shows while the app is open.
struct UNNotificationPresentationOptions: OptionSet {
    let rawValue: Int
}

/// The app's own parts of the class in which the snippets stand.
///
/// An app would confine it to the main thread, which the snippets' completions are not called on.
class OktaApp: @unchecked Sendable {
    private let vault: any VaultOfTest
    private let events = Mutex([String]())
    var authenticatorClient: (any DeviceAuthenticatorProtocol)?
    var notificationSessionToken: Data?

    init(_ vault: any VaultOfTest) {
        self.vault = vault
    }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// Hides the library's initializer, since Linux has no Secure Enclave.
    func ApplicationConfig(
        applicationName: String, applicationVersion: String, applicationGroupId: String
    ) -> DeviceAuthenticator.ApplicationConfig {
        let config = DeviceAuthenticator.ApplicationConfig(
            applicationName: applicationName, applicationVersion: applicationVersion,
            applicationGroupId: applicationGroupId)
        vault.complete(config)
        made = config
        return config
    }

    private(set) var made: DeviceAuthenticator.ApplicationConfig?

    func getAccessToken(_ body: (String) -> Void) {
        body(Credential.default?.token.accessToken ?? "")
    }

    /// Notes what a snippet leaves to the app.
    func note(_ event: String) {
        events.withLock { $0.append(event) }
    }

    /// What was noted, once there is something.
    func noted() async throws -> [String] {
        while true {
            let noted = events.withLock { $0 }
            if !noted.isEmpty { return noted }
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}

/// Completes the configuration that a snippet makes, by what the system would give.
protocol VaultOfTest: Sendable {
    func complete(_ config: DeviceAuthenticator.ApplicationConfig)
}
