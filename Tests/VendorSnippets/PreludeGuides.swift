// swift-format-ignore-file
import Countersign
import DeviceAuthenticator
import Foundation
import OneginiSDKiOS
import Synchronization
import UIKitStandIn

// The programs of the guides for those who come from a vendor, for tests to run; and the terminal that they stand before.

/// What a person types into the programs, and what these print.
package enum Console {
    private static let typed = Mutex([String]())
    private static let printed = Mutex([String]())

    /// Has a person type a line.
    package static func type(_ line: String) { typed.withLock { $0.append(line) } }

    /// What was printed, line by line.
    package static var lines: [String] { printed.withLock { $0 } }

    fileprivate static func next() -> String? { typed.withLock { $0.isEmpty ? nil : $0.removeFirst() } }

    fileprivate static func note(_ line: String) { printed.withLock { $0.append(line) } }
}

/// Hides the standard library's, which would read what the tests are given.
func readLine(strippingNewline: Bool = true) -> String? { Console.next() }

/// Hides the standard library's.
func print(_ items: Any..., separator: String = " ", terminator: String = "\n") {
    Console.note(items.map { "\($0)" }.joined(separator: separator))
}

/// The program of the guide for apps with Cotter's SDK.
@MainActor
package enum CotterGuide {
    /// Sets the library up.
    package static func start() { setUp(Backend()) }

    /// Its screen.
    package static func screen() -> UIViewController { LoginScreen() }

    /// Signs in on its screen.
    package static func logIn(_ screen: UIViewController) { (screen as? LoginScreen)?.logIn() }

    /// Looks on its screen for what waits.
    package static func check(_ screen: UIViewController) { (screen as? LoginScreen)?.checkForPendingEvent() }

    /// The header fields of a request to the app's own server.
    package static func fields(_ url: URL) async throws -> [String: String] { try await headerFields(url) }
}

/// The program of the guide for apps with OneWelcome's SDK.
@MainActor
package final class OneWelcomeGuide {
    private let program = MobileLogin()

    package init() {}

    /// Sets the library up.
    package func start(vault: any Vault, completion: @escaping @MainActor ((any Error)?) -> Void) {
        program.start(vault: vault, completion: completion)
    }

    /// Enrolls for mobile authentication, with pushes.
    package func enroll(deviceToken: Data) { program.enroll(deviceToken: deviceToken) }

    /// Handles a push.
    package func received(_ userInfo: [AnyHashable: Any]) { program.received(userInfo) }
}

/// The program of the guide for apps with Okta's SDK.
package struct OktaGuide {
    private let program: DeviceClient

    /// What the program has made.
    package var authenticator: any DeviceAuthenticatorProtocol { program.authenticator }

    package init(vault: any Vault) throws { program = try DeviceClient(vault: vault) }

    /// Enrolls the device.
    package func enroll(token: String, server: URL, client: String, pushToken: Data) {
        program.enroll(token: token, server: server, client: client, pushToken: pushToken)
    }

    /// Answers a challenge.
    package func answer(_ challenge: any PushChallengeProtocol, isYes: Bool, number: String) {
        program.answer(challenge, isYes: isYes, number: number)
    }
}
