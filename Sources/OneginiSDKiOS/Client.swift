public import Countersign
public import CountersignWire
import Foundation

/// What the app is to the server: a dictionary with the original's keys.
public final class ConfigModel: Sendable {
    /// The original's keys that count here; the others may stay.
    public enum Key {
        /// The id of the app's client at the issuer, such as `cli_…`.
        public static let identifier = "ONGAppIdentifier"
        /// The app's version, unless ``ClientBuilder/setAppDescription(_:)`` says another.
        public static let version = "ONGAppVersion"
        /// The issuer's URL, such as `https://login.example.com`.
        public static let baseURL = "ONGAppBaseURL"
        /// Where the browser comes back: a redirect URI of the client.
        public static let redirectURL = "ONGRedirectURL"
    }

    private let values: [String: String]

    /// A configuration of these values, by ``Key`` and other keys, which say nothing.
    public init(dictionary: [String: String]) {
        values = dictionary
    }

    /// A value; nil for none.
    public subscript(key: String) -> String? { values[key] }
}

/// What the app has set.
struct ClientSettings: Sendable {
    var model = ConfigModel(dictionary: [:])
    var app: AppDescription?
    var vault: (any Vault)?
    var transport: any Transport = URLSessionTransport()
    var clock: any DeviceClock = SystemClock()
    var pushApp = Bundle.main.bundleIdentifier ?? ""
    var pushEnvironment = APNsEnvironment.production
}

/// The library, set up for one app.
public protocol Client: AnyObject, Sendable {
    /// The configuration.
    var configModel: ConfigModel { get }
    /// The users of this device.
    var userClient: any UserClient { get }
    /// Opens keys and records; before that every call fails with ``GenericError/configurationInvalid``.
    ///
    /// - Parameter completion: gets nil if it is done, or was before; an `NSError` of ``ErrorDomains/generic``
    ///   otherwise: ``GenericError/configurationInvalid`` for a wrong configuration,
    ///   ``GenericError/dataStorageNotAvailable`` for a vault that cannot be read,
    ///   ``GenericError/actionAlreadyInProgress`` while it is under way.
    func start(completion: @escaping @MainActor ((any Error)?) -> Void)
    /// Deletes all enrollments and users from this device; the server is not told.
    ///
    /// - Parameter completion: gets nil if it is done; otherwise an `NSError` of ``ErrorDomains/generic``.
    func reset(completion: @escaping @MainActor ((any Error)?) -> Void)
}

final class TranslatedClient: Client {
    let configModel: ConfigModel
    private let users: TranslatedUserClient
    var userClient: any UserClient { users }

    init(_ settings: ClientSettings) {
        configModel = settings.model
        users = TranslatedUserClient(settings)
    }

    func start(completion: @escaping @MainActor ((any Error)?) -> Void) {
        users.start(completion)
    }

    func reset(completion: @escaping @MainActor ((any Error)?) -> Void) {
        users.reset(completion)
    }
}

/// The client that was built last.
public enum SharedClient {
    private static let built = Guarded(TranslatedClient(ClientSettings()))

    /// The client; before one was built, all its calls fail.
    public static var instance: any Client { built.with { $0 } }

    fileprivate static func replace(by client: TranslatedClient) {
        built.with { $0 = client }
    }
}

/// The users of this device.
public enum SharedUserClient {
    /// The users of this device, by ``SharedClient/instance``.
    public static var instance: any UserClient { SharedClient.instance.userClient }
}

/// Sets the library up.
public final class ClientBuilder: Sendable {
    private let settings = Guarded(ClientSettings())

    /// Nothing is set yet.
    public init() {}

    /// Sets what the app is to the server.
    @discardableResult
    public func setConfigModel(_ model: ConfigModel) -> ClientBuilder {
        settings.with { $0.model = model }
        return self
    }

    /// Sets how the app and the device are named at the server.
    ///
    /// Without it the app is named by the client's id, and the device "This device".
    @discardableResult
    public func setAppDescription(_ app: AppDescription) -> ClientBuilder {
        settings.with { $0.app = app }
        return self
    }

    /// Sets what keeps keys and records.
    ///
    /// It must be this library's alone: enrollments that it has not made are removed. On iOS and macOS the Secure
    /// Enclave and the Keychain are used unless another is set.
    @discardableResult
    public func setVault(_ vault: any Vault) -> ClientBuilder {
        settings.with { $0.vault = vault }
        return self
    }

    /// Sets what sends requests, such as one that pins certificates.
    @discardableResult
    public func setTransport(_ transport: any Transport) -> ClientBuilder {
        settings.with { $0.transport = transport }
        return self
    }

    /// Sets the device's clock.
    @discardableResult
    public func setClock(_ clock: any DeviceClock) -> ClientBuilder {
        settings.with { $0.clock = clock }
        return self
    }

    /// Sets for which app, and in which of Apple's environments, push tokens are good.
    ///
    /// Without it they are those of the main bundle, in production.
    ///
    /// - Parameters:
    ///   - app: the bundle identifier.
    ///   - environment: the environment; production unless it is set.
    @discardableResult
    public func setPush(app: String, environment: APNsEnvironment) -> ClientBuilder {
        settings.with {
            $0.pushApp = app
            $0.pushEnvironment = environment
        }
        return self
    }

    /// Builds the client, which is ``SharedClient/instance`` from now on, and hands it over on the main thread.
    ///
    /// The name is the original's. It waits for nothing: on a device that was not unlocked yet,
    /// ``Client/start(completion:)`` fails.
    public func buildAndWaitForProtectedData(completion: @escaping @MainActor (any Client) -> Void) {
        let client = build()
        Task { @MainActor in completion(client) }
    }

    /// Builds the client, which is ``SharedClient/instance`` from now on.
    @discardableResult
    public func build() -> any Client {
        let client = TranslatedClient(settings.with { $0 })
        SharedClient.replace(by: client)
        return client
    }

    /// Builds a client beside ``SharedClient/instance``, for tests that run at once.
    package func buildAlone() -> any Client { TranslatedClient(settings.with { $0 }) }
}
