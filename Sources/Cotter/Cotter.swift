public import Countersign

#if canImport(UIKit)
    public import UIKit
#else
    public import UIKitStandIn
#endif

/// The calls of Cotter's SDK, translated to Countersign.
///
/// Each callback is called once, on the main actor, when nothing of the call is on the screen any more. What is the same,
/// what is different and what is absent is in docs/guides/migrate-from-cotter.md.
@MainActor
public final class Cotter {
    /// What Countersign needs to know besides.
    ///
    /// Set it, or its parts, before the first ``Cotter`` is made or configured. Each change forgets what was
    /// configured: a `Cotter` that was made before keeps its earlier settings, and ``accessToken()``,
    /// ``getAccessToken()``, ``getLoggedInUserID()``, ``logout()`` and ``Passwordless/shared`` know nobody until
    /// another one is.
    public static var settings = CotterSettings() {
        didSet { Backing.forgetAll() }
    }

    /// The app's id of the user: what the app knows the user by, best the address with which they sign in.
    public var userID: String
    private let backing: Backing

    /// Makes it for no user yet: set ``userID``.
    ///
    /// - Parameters:
    ///   - apiSecretKey: is not used, and not sent. Take it out of the app.
    ///   - apiKeyID: the app's client at the server, such as `cli_…`, unless ``settings`` name another.
    ///   - cotterURL: the server, such as `https://login.example.com`, unless ``settings`` name another; its path does
    ///     not count.
    public init(apiSecretKey: String, apiKeyID: String, cotterURL: String) {
        userID = ""
        backing = .configured(apiKeyID, at: cotterURL, by: Self.settings)
    }

    /// Makes it for a user.
    ///
    /// - Parameters:
    ///   - apiSecretKey: is not used, and not sent. Take it out of the app.
    ///   - apiKeyID: the app's client at the server, unless ``settings`` name another.
    ///   - cotterURL: the server, unless ``settings`` name another; its path does not count.
    ///   - userID: the app's id of the user.
    ///   - configuration: `"language"`, a ``LanguageObject``, and `"colors"`, a ``ColorSchemeObject``; others say nothing.
    public convenience init(
        apiSecretKey: String, apiKeyID: String, cotterURL: String, userID: String, configuration: [String: Any]
    ) {
        self.init(apiSecretKey: apiSecretKey, apiKeyID: apiKeyID, cotterURL: cotterURL)
        self.userID = userID
        backing.look.read(configuration)
    }

    /// Configures it for ``Passwordless/shared``, for any user.
    ///
    /// - Parameters:
    ///   - apiSecretKey: is not used, and not sent. Take it out of the app.
    ///   - apiKeyID: the app's client at the server, unless ``settings`` name another.
    ///   - configuration: as in ``init(apiSecretKey:apiKeyID:cotterURL:userID:configuration:)``, and `"base_url"`, the
    ///     server, unless ``settings`` name it.
    public static func configure(apiSecretKey: String, apiKeyID: String, configuration: [String: Any] = [:]) {
        let url = configuration["base_url"] as? String ?? ""
        Backing.configured(apiKeyID, at: url, by: settings).look.read(configuration)
    }

    /// Configures it as the app is launched and, if a push has launched it, shows the newest question that waits.
    ///
    /// Which push it was does not count, nor for whom the question is. Nothing is shown, and nobody is told, if nothing
    /// waits, the server cannot be asked, or no view controller is on the screen yet.
    ///
    /// - Parameters:
    ///   - launchOptions: why the app was launched, as the system hands it over.
    ///   - apiSecretKey: is not used, and not sent. Take it out of the app.
    ///   - apiKeyID: the app's client at the server, unless ``settings`` name another.
    ///   - configuration: as in ``configure(apiSecretKey:apiKeyID:configuration:)``.
    public static func configureWithLaunchOptions(
        launchOptions: [UIApplication.LaunchOptionsKey: Any]?, apiSecretKey: String, apiKeyID: String,
        configuration: [String: Any] = [:]
    ) {
        configure(apiSecretKey: apiSecretKey, apiKeyID: apiKeyID, configuration: configuration)
        guard launchOptions?[.remoteNotification] != nil, let backing = Backing.current else { return }
        Task { try? await backing.answerAny() }
    }

    /// Replaces a text of the prompts.
    ///
    /// - Parameters:
    ///   - key: one of the keys such as ``NonTrustedKey/title``; any other says nothing.
    ///   - value: the text, which is shown as it is.
    public func setText(for key: String, to value: String) {
        backing.look.language.setText(for: key, to: value)
    }
}

// MARK: - Trusted devices

extension Cotter {
    /// Signs the user in: by this device, if it is trusted; otherwise by one that is.
    ///
    /// On a device that is not trusted a prompt shows a number, which the person types on the trusted one. It lasts for a
    /// minute at most, and ends as soon as the person declines; what went wrong closes itself after three seconds.
    ///
    /// - Parameters:
    ///   - vc: over what the prompt is shown.
    ///   - cb: takes the access token, or why nobody was signed in.
    public func loginWithTrustedDevice(vc: UIViewController, cb: @escaping FinalAuthCallback) {
        let (backing, user) = (backing, userID)
        tell(cb) { try await backing.login(user, over: vc).token.reveal() }
    }

    /// Shows the newest question that waits for the user on this device, which must be trusted.
    ///
    /// - Parameters:
    ///   - vc: over what the prompt is shown.
    ///   - cb: is called with "" once the prompt is closed, or if nothing waits; with an error if this device is not
    ///     trusted, or the question could not be fetched or shown. What the person has answered is not told.
    public func getEventTrustedDevice(vc: UIViewController, cb: FinalAuthCallback? = nil) {
        let (backing, user) = (backing, userID)
        tell(cb) {
            _ = try await backing.answer(user, over: vc)
            return ""
        }
    }

    /// Makes this device a trusted one of the user, and signs them in.
    ///
    /// A trusted device of theirs, if there is one, is asked: a prompt here shows the number to type there. The device
    /// enrolls by ``CotterSettings/ticket``, or by a sign-in on the server's page. If that prompt is closed before the
    /// other device has agreed, the callback has an error, and the device goes on waiting: the next call shows the prompt
    /// again. Once the app was started anew, it has no number any more: undo the device in the prompt, or remove it by
    /// ``removeTrustedDevice(vc:cb:)``, and register it anew. A call that comes while another one goes
    /// on begins when that one is over.
    ///
    /// - Parameters:
    ///   - vc: over what the page and the prompt are shown.
    ///   - cb: takes the access token, or why the device is not trusted; ``CotterError/trustedDevice(_:)`` if it is
    ///     registered already.
    public func registerNewDevice(vc: UIViewController, cb: @escaping FinalAuthCallback) {
        let (backing, user) = (backing, userID)
        tell(cb) { try await backing.trust(user, over: vc).token.reveal() }
    }

    /// Asks on this trusted device whether a new one may be added, which ``registerNewDevice(vc:cb:)`` has begun there.
    ///
    /// - Parameters:
    ///   - vc: over what the prompt is shown.
    ///   - cb: is called with "" once the prompt is closed; with an error if no new device waits.
    public func scanNewDevice(vc: UIViewController, cb: @escaping FinalAuthCallback) {
        let (backing, user) = (backing, userID)
        tell(cb) {
            try await backing.admitDevice(user, over: vc)
            return ""
        }
    }

    /// Removes this device from the user's trusted ones, here and at the server; nothing is shown.
    ///
    /// - Parameters:
    ///   - vc: is not used.
    ///   - cb: is called with "" once it is removed; with an error if it is none, or the server cannot be asked.
    public func removeTrustedDevice(vc: UIViewController, cb: @escaping FinalAuthCallback) {
        let (backing, user) = (backing, userID)
        tell(cb) {
            try await backing.removeDevice(user)
            return ""
        }
    }
}

// MARK: - Signing in on the page, and tokens

extension Cotter {
    /// Signs a person in on the server's page, in their browser.
    ///
    /// Whoever signs in there need not be the one whom the app has suggested: go by the id and the address that are told.
    ///
    /// - Parameters:
    ///   - parentView: over what the page is shown.
    ///   - input: the address that the page suggests; "" for none.
    ///   - identifierField: is not used.
    ///   - type: `EMAIL` or `PHONE`: which address is told. `PHONE` needs the scope `phone`; the page takes either.
    ///   - directLogin: is not used: the page goes on by itself where it can.
    ///   - userID: the app's id of the person, which is told back.
    ///   - authMethod: is not used: the server says by what people sign in.
    ///   - cb: takes who has signed in, or why nobody has.
    public func startPasswordlessLogin(
        parentView: UIViewController, input: String, identifierField: String, type: String, directLogin: Bool,
        userID: String? = nil, authMethod: AuthMethod? = nil,
        cb: @escaping @MainActor (CotterIdentity?, (any Error)?) -> Void
    ) {
        let backing = backing
        tell(of: { () async throws -> CotterIdentity in
            let grant = try await backing.authorize(input, over: parentView)
            return await backing.identity(grant, type: type, of: userID)
        }) { result in
            switch result {
            case .success(let identity): cb(identity, nil)
            case .failure(let error): cb(nil, error)
            }
        }
    }

    /// The access token, while it is good; nil if nobody is signed in.
    ///
    /// It is nil, too, in the first moments after a launch, and while a token that is over is renewed:
    /// ``accessToken()`` waits. Calling it again later finds the new one. Most servers bind the token to a key of this
    /// device, and then it is worth nothing by itself.
    public static func getAccessToken() -> String? { Backing.current?.accessToken }

    /// An access token that is good for some time yet, whose `headerFields(for:_:)` show it to your own server.
    ///
    /// One that is over is refreshed, if the person has signed in on the page; if this device is a trusted one of
    /// theirs, it signs them in anew, and nothing is shown. Whoever has signed in by another device signs in again.
    ///
    /// - Throws: `notSignedIn` if nobody is signed in, if nothing is configured yet, or if the token is over and
    ///   nothing renews it; `signInEnded`, `signInRefused`, `deviceDeregistered`, `enrollmentUnknown`,
    ///   `enrollmentSuspended` or `enrollmentWaiting` if the server ends the sign-in; `configurationInvalid` for wrong
    ///   settings. For errors of the network, the server and the vault the person stays signed in.
    public static func accessToken() async throws(CountersignError) -> AccessToken {
        guard let backing = Backing.current else { throw .notSignedIn }
        return try await backing.freshToken()
    }

    /// The id at the server of whoever is signed in; nil for nobody, and in the first moments after a launch.
    ///
    /// It stays while there is no network. It ends with the sign-in: by ``logout()``, when the server has ended it, or
    /// when a token that is over is asked for and nothing renews it.
    public static func getLoggedInUserID() -> String? { Backing.current?.person }

    /// Ends the sign-in: here at once, and at the server, which takes the tokens back.
    ///
    /// It does not wait. If the server cannot be reached, the tokens are forgotten here all the same, and end by
    /// themselves.
    public static func logout() { Backing.current?.signOut() }
}
