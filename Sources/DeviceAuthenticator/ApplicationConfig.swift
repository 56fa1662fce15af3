public import Countersign

/// What the app says of itself before it makes an authenticator.
public final class ApplicationConfig {
    /// How pushes reach the app, and what their notifications offer.
    public struct PushSettings: Sendable {
        /// Which of Apple's two environments hands out the app's push tokens.
        public enum APSEnvironment: Sendable {
            /// For apps that a developer runs.
            case development
            /// For apps from the store.
            case production
        }

        /// The environment of the app's push tokens.
        public var apsEnvironment = APSEnvironment.production
        /// The title of the action that approves; without it and that of denying, notifications offer no actions.
        public var approveActionTitle: String?
        /// The title of the action that denies.
        public var denyActionTitle: String?
        /// The title of the action that opens the app to verify the user.
        ///
        /// Nothing shows it: a tap on the notification itself opens the app.
        public var userVerificationActionTitle: String?

        /// Settings for an app from the store, without actions.
        public init() {}
    }

    /// What only Countersign asks of an app; the vendor's configuration has nothing of it.
    public struct CountersignSettings {
        /// Where keys and records are kept; nil for the Secure Enclave and the Keychain, which only Apple's systems have.
        public var vault: (any Vault)?
        /// Sends requests.
        public var transport: any Transport = URLSessionTransport()
        /// The device's clock.
        public var clock: any DeviceClock = SystemClock()
        /// The user's name for the device, as the user's list of devices shows it; nil for the application's name.
        public var deviceName: String?
        /// The app's bundle identifier, to which pushes are sent; nil for that of the main bundle.
        ///
        /// An extension has another one than its app, so it says that of the app here.
        public var bundleIdentifier: String?
        /// The text of the system's prompt for biometrics, in the user's language.
        public var biometricPrompt = "Confirm that it is you"
        /// The title of the action that denies and reports that somebody else started this, in the user's language.
        public var reportActionTitle = "This was not me"
    }

    /// The app's name.
    public let applicationName: String
    /// The app's version.
    public let applicationVersion: String
    /// The group of files that the app shares with its extensions.
    public let applicationGroupId: String
    /// The Keychain's group that the app shares with its extensions; nil for that of files.
    public let keychainGroupId: String?
    /// The vendor's name for this installation of the app.
    ///
    /// Nothing uses it: a device is known by its key.
    public let applicationInstallationId: String?
    /// How pushes reach the app, and what their notifications offer.
    public var pushSettings = PushSettings()
    /// What only Countersign asks of an app.
    public var countersign = CountersignSettings()

    /// A configuration of these parts.
    ///
    /// - Parameters:
    ///   - applicationName: the app's name, as the user's list of devices shows it.
    ///   - applicationVersion: the app's version, such as `3.1`.
    ///   - applicationGroupId: the app group, such as `group.com.acme`.
    ///   - keychainGroupId: the Keychain's group, with the team's id before it; nil for that of the app group.
    ///   - applicationInstallationId: is not used.
    public init(
        applicationName: String, applicationVersion: String, applicationGroupId: String,
        keychainGroupId: String? = nil, applicationInstallationId: String? = nil
    ) {
        self.applicationName = applicationName
        self.applicationVersion = applicationVersion
        self.applicationGroupId = applicationGroupId
        self.keychainGroupId = keychainGroupId
        self.applicationInstallationId = applicationInstallationId
    }
}

/// The push settings where the vendor's documents have them.
extension ApplicationConfig {
    /// See ``PushSettings/apsEnvironment``.
    public var apsEnvironment: PushSettings.APSEnvironment {
        get { pushSettings.apsEnvironment }
        set { pushSettings.apsEnvironment = newValue }
    }

    /// See ``PushSettings/approveActionTitle``.
    public var approveActionTitle: String? {
        get { pushSettings.approveActionTitle }
        set { pushSettings.approveActionTitle = newValue }
    }

    /// See ``PushSettings/denyActionTitle``.
    public var denyActionTitle: String? {
        get { pushSettings.denyActionTitle }
        set { pushSettings.denyActionTitle = newValue }
    }

    /// See ``PushSettings/userVerificationActionTitle``.
    public var userVerificationActionTitle: String? {
        get { pushSettings.userVerificationActionTitle }
        set { pushSettings.userVerificationActionTitle = newValue }
    }
}
