public import Countersign
package import CountersignPrompts
public import Foundation

/// What Countersign needs to know and Cotter's calls do not say; every part has a default.
///
/// Set ``Cotter/settings`` before the first `Cotter` is made or configured.
public struct CotterSettings: Sendable {
    /// The server; nil for the host of `cotterURL`, whose path does not count.
    public var issuer: URL?
    /// The app's client at the server, such as `cli_…`; nil for `apiKeyID`.
    public var clientID: String?
    /// Where the browser comes back after a sign-in on a page; nil for `/cotter` at the scheme of the app's bundle id.
    ///
    /// It must be registered at the server.
    public var redirectURI: URL?
    /// The scopes of sign-ins; without `email`, or `phone` for telephone numbers, nobody's address is told.
    public var scopes = ["openid", "email", "offline_access"]
    /// How the app and the device describe themselves; nil for the bundle's name and version, and "Phone".
    public var app: AppDescription?
    /// Keeps keys and tokens; nil for the Secure Enclave and the Keychain, where there are any.
    public var vault: (any Vault)?
    /// Shows the server's pages; nil for the system's session for signing in, where there is one.
    public var browser: (any BrowserSession)?
    /// Sends requests.
    public var transport: any Transport = URLSessionTransport()
    /// The device's clock.
    public var clock: any DeviceClock = SystemClock()
    /// The text of a ticket by which this device enrolls for a user of the app; nil for a sign-in on the server's page.
    ///
    /// Have your own server make it, for the user who is signed in there: it is `qr` of the ticket. An error that is
    /// thrown here goes to the callback, as ``CotterError/general(message:)`` unless it is a ``CotterError`` or one of
    /// the SDK's.
    public var ticket: (@Sendable (_ userID: String) async throws -> String)?
    /// The address by which the server knows a user of the app; by default the app's id of the user itself.
    ///
    /// It is the `login_hint` of sign-ins by another device, and on the page by which a device enrolls.
    public var signInName: @Sendable (_ userID: String) -> String = { $0 }
    /// The text of the system's prompt for a fingerprint or a face.
    public var biometricPrompt = "Approve"
    /// The clock of prompts, which tests set.
    package var promptClock: any PromptClock = SystemPromptClock()

    /// The defaults.
    public init() {}
}
