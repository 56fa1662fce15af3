// swift-format-ignore-file
// Made by scripts/seed-snippets of docs/guides/migrate-from-cotter.md: do not edit.
import Cotter
import Countersign
import Foundation
import UIKitStandIn

/// Your own server, which knows who is signed in to the app.
struct Backend: Sendable {
    func ticket() async throws -> String { "the text of a ticket" }
    func address(of userID: String) -> String { userID }
}

/// Call it as the app is launched.
@MainActor
func setUp(_ backend: Backend) {
    Cotter.settings.issuer = URL(string: "https://login.example.com")
    Cotter.settings.clientID = "cli_01m7yfdqve7kp86cjznhx1qer1"
    Cotter.settings.redirectURI = URL(string: "com.acme.shop:/cotter")
    // Without it, a device enrolls by a sign-in on the server's page.
    Cotter.settings.ticket = { _ in try await backend.ticket() }
    // Without it, the app's id of the user is the address.
    Cotter.settings.signInName = { userID in backend.address(of: userID) }
}

/// A screen as it was.
final class LoginScreen: UIViewController {
    private let cotter = Cotter(
        apiSecretKey: "", apiKeyID: "w4FK6Zz0XIhtGY3o5biI", cotterURL: "https://www.cotter.app/api/v0",
        userID: "hello@example.com", configuration: ["colors": ColorSchemeObject(primary: "#4C2A86")])

    func logIn() {
        cotter.loginWithTrustedDevice(vc: self) { token, error in
            print(token.isEmpty ? "nobody is signed in: \(error?.localizedDescription ?? "")" : "signed in")
        }
    }

    func checkForPendingEvent() {
        cotter.getEventTrustedDevice(vc: self)
    }
}

/// The header fields of a request to your own server: most access tokens are bound to a key of the device, and need a
/// proof beside them.
@MainActor
func headerFields(_ url: URL) async throws -> [String: String] {
    try await Cotter.accessToken().headerFields(for: "GET", url)
}
