/// A user of this device.
public protocol UserProfile: AnyObject, Sendable {
    /// The id of the profile: that of the device's enrollment, `enr_…` with 30 characters.
    var profileId: String { get }
}

extension UserProfile {
    /// Whether both are the same user of this device.
    public func isEqual(to profile: (any UserProfile)?) -> Bool { profileId == profile?.profileId }
}

/// A profile of an id that the app has kept.
public final class UserProfileImplementation: UserProfile {
    /// See ``UserProfile/profileId``.
    public let profileId: String

    /// A profile of this id.
    public init(profileId: String) {
        self.profileId = profileId
    }
}

/// What a custom authenticator has said to the app.
public protocol CustomInfo: AnyObject, Sendable {
    /// 2000 if it has agreed, 4000 if it wants to be asked again, 5000 if it has refused and is no longer registered.
    var status: Int { get }
    /// Its data; empty if it has sent none.
    var data: String { get }
}

/// What a custom authenticator has said to the app.
final class TranslatedInfo: CustomInfo {
    /// What it has decided.
    enum Verdict: Int {
        case agreed = 2000
        case retry = 4000
        case refused = 5000
    }

    let status: Int
    let data: String

    init(_ verdict: Verdict, _ payload: String?) {
        status = verdict.rawValue
        data = payload ?? ""
    }
}

/// A way to register.
public protocol IdentityProvider: AnyObject, Sendable {
    /// Its id: `browser` or `ticket`.
    var identifier: String { get }
    /// Its name, in English.
    var name: String { get }
}

/// A way to register.
final class RegistrationWay: IdentityProvider {
    /// The issuer's pages in the person's browser.
    static let browser = RegistrationWay(identifier: "browser", name: "Browser")
    /// A ticket that the person has scanned, as the answer to a custom registration's challenge.
    static let ticket = RegistrationWay(identifier: "ticket", name: "Ticket")

    let identifier: String
    let name: String

    private init(identifier: String, name: String) {
        self.identifier = identifier
        self.name = name
    }
}

/// What kind an authenticator is of.
public enum AuthenticatorType: UInt, Sendable {
    /// The PIN.
    case pin = 0
    /// The device's biometrics.
    case biometric = 1
    /// A custom authenticator, which the operator runs.
    case custom = 3
}

/// Which authenticators a list has.
public enum AuthenticatorsType: Sendable {
    /// Those that are registered.
    case registered
    /// Those that are not.
    case nonRegistered
    /// All of them.
    case all
}

/// A way for a user to authenticate, as it was when the app asked.
public final class Authenticator: Sendable {
    /// Its id: `pin`, `biometric`, or the name of a custom authenticator.
    public let identifier: String
    /// Its name: `PIN` or `Biometrics`, in English, or that of the custom authenticator.
    public let name: String
    /// Its kind.
    public let type: AuthenticatorType
    /// Whether it is registered.
    public let isRegistered: Bool
    /// Whether the user is authenticated by it unless the app names another.
    public let isPreferred: Bool

    init(_ method: Method, isRegistered: Bool, isPreferred: Bool) {
        identifier = method.identifier
        name = method.name
        type = method.type
        self.isRegistered = isRegistered
        self.isPreferred = isPreferred
    }
}

/// A way for a user to authenticate.
enum Method: Hashable, Sendable {
    case pin
    case biometric
    case custom(String)

    private static let pinIdentifier = "pin"
    private static let biometricIdentifier = "biometric"

    var identifier: String {
        switch self {
        case .pin: Self.pinIdentifier
        case .biometric: Self.biometricIdentifier
        case .custom(let name): name
        }
    }

    var name: String {
        switch self {
        case .pin: "PIN"
        case .biometric: "Biometrics"
        case .custom(let name): name
        }
    }

    var type: AuthenticatorType {
        switch self {
        case .pin: .pin
        case .biometric: .biometric
        case .custom: .custom
        }
    }

    init(_ authenticator: Authenticator) {
        switch authenticator.type {
        case .pin: self = .pin
        case .biometric: self = .biometric
        case .custom: self = .custom(authenticator.identifier)
        }
    }

    /// The method of an identifier that was kept.
    init(identifier: String) {
        switch identifier {
        case Self.pinIdentifier: self = .pin
        case Self.biometricIdentifier: self = .biometric
        default: self = .custom(identifier)
        }
    }
}
