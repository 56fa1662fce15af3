import Countersign
import Foundation

/// What the library knows between two calls of the app.
struct Standing: Sendable {
    /// The SDK, once it has been started.
    var phone: Phone?
    /// The users of this device, oldest first.
    var users: [User] = []
    /// Who is logged in.
    var session: Session?
    /// Who is authenticated implicitly.
    var implicit: Session?
    /// The calls that may not be made twice at once.
    var underWay: Set<String> = []

    subscript(profile: String) -> User? { users.first { $0.profile == profile } }

    /// Changes what is known of a user; nothing for an unknown one.
    mutating func change(_ profile: String, _ change: (inout User) -> Void) {
        guard let index = users.firstIndex(where: { $0.profile == profile }) else { return }
        change(&users[index])
    }

    /// Forgets the users that are no longer there; true if there were any.
    mutating func forget(allBut there: Set<String>) -> Bool {
        let count = users.count
        users.removeAll { !there.contains($0.profile) }
        if let profile = session?.profile, !there.contains(profile) { session = nil }
        if let profile = implicit?.profile, !there.contains(profile) { implicit = nil }
        return users.count != count
    }
}

/// What the app keeps of a user, in a record of the vault.
struct User: Codable, Hashable, Sendable {
    /// The id of the enrollment.
    let profile: String
    /// The scopes of the user's access tokens.
    let scopes: [String]
    /// Whether mobile authentication requests surface in this app.
    var isMobileAuthEnrolled = false
    /// Whether the app has registered for pushes since.
    var isPushEnrolled = false
    /// The identifier of the preferred authenticator; nil for the PIN.
    var preferred: String?
    /// Whether biometrics are registered.
    var hasBiometric = false
    /// The custom authenticators, each with whether it is registered.
    var custom: [String: Bool] = [:]

    /// Whether a method is registered.
    func has(_ method: Method) -> Bool {
        switch method {
        case .pin: true
        case .biometric: hasBiometric
        case .custom(let name): custom[name] == true
        }
    }

    var preferredMethod: Method {
        guard let method = preferred.map(Method.init(identifier:)), has(method) else { return .pin }
        return method
    }

    func authenticator(_ method: Method) -> Authenticator {
        Authenticator(method, isRegistered: has(method), isPreferred: preferredMethod == method)
    }

    /// Takes over how the methods stand at the server.
    mutating func learn(_ methods: EnrolledMethods) {
        hasBiometric = methods.hasBiometric
        custom = methods.custom
    }
}

/// A user's tokens, which are in memory alone: after a relaunch nobody is logged in.
struct Session: Sendable {
    let profile: String
    let openID: OpenIDClient
    let token: AccessToken
    /// Whether it outlives its access token.
    let isLasting: Bool
}
