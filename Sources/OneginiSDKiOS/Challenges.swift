public import Foundation

/// The app is to have the person type the PIN.
public protocol PinChallenge: AnyObject, Sendable {
    /// Whose PIN.
    var userProfile: any UserProfile { get }
    /// The PIN as an authenticator.
    var authenticator: Authenticator { get }
    /// How many wrong PINs in a row there may be.
    var maxFailureCount: UInt { get }
    /// How many there were.
    var previousFailureCount: UInt { get }
    /// How many more there may be.
    var remainingFailureCount: UInt { get }
    /// Why the PIN is asked for again, or instead of something else, such as 9009 or 9030; nil the first time.
    var error: (any Error)? { get }
    /// Takes the answer.
    var sender: any PinChallengeSender { get }
}

/// Takes the answer to a ``PinChallenge``; the first one counts.
public protocol PinChallengeSender: AnyObject, Sendable {
    /// The person has typed a PIN; a text that can be none counts as a wrong one, without a try at the server.
    func respond(with pin: String, to challenge: any PinChallenge)
    /// The person has given up; a mobile authentication request is denied by that.
    func cancel(_ challenge: any PinChallenge)
}

/// The app is to have the person choose a PIN.
public protocol CreatePinChallenge: AnyObject, Sendable {
    /// Whose PIN; nil while the user is being registered.
    var userProfile: (any UserProfile)? { get }
    /// How many digits it has at least.
    var pinLength: UInt { get }
    /// Why the PIN that was chosen cannot be set, a ``PinValidationError``; nil the first time.
    var error: (any Error)? { get }
    /// Takes the answer.
    var sender: any CreatePinChallengeSender { get }
}

/// Takes the answer to a ``CreatePinChallenge``; the first one counts.
public protocol CreatePinChallengeSender: AnyObject, Sendable {
    /// The person has chosen a PIN.
    func respond(with pin: String, to challenge: any CreatePinChallenge)
    /// The person has given up.
    func cancel(_ challenge: any CreatePinChallenge)
}

/// The app is to say with which words the system asks for the person's biometrics.
public protocol BiometricChallenge: AnyObject, Sendable {
    /// Whose biometrics.
    var userProfile: any UserProfile { get }
    /// The biometrics as an authenticator.
    var authenticator: Authenticator { get }
    /// Takes the answer.
    var sender: any BiometricChallengeSender { get }
}

/// Takes the answer to a ``BiometricChallenge``; the first one counts.
public protocol BiometricChallengeSender: AnyObject, Sendable {
    /// The system asks with this text, which is in the person's language.
    func respond(with prompt: String, to challenge: any BiometricChallenge)
    /// The PIN is asked for instead.
    func respondWithPinFallback(to challenge: any BiometricChallenge)
    /// The person has given up; a mobile authentication request is denied by that.
    func cancel(_ challenge: any BiometricChallenge)
}

/// The app is to have the person authenticate by a custom authenticator.
public protocol CustomAuthFinishAuthenticationChallenge: AnyObject, Sendable {
    /// Who is to authenticate.
    var userProfile: (any UserProfile)? { get }
    /// The custom authenticator.
    var authenticator: Authenticator? { get }
    /// Data of the authenticator's for the person; always nil here.
    var challengeData: Data? { get }
    /// Why it is asked again, 9027 with the ``CustomInfo`` at ``CustomAuthInfoKey``; nil the first time.
    var error: (any Error)? { get }
    /// Takes the answer.
    var sender: any CustomAuthFinishAuthenticationChallengeSender { get }
}

/// Takes the answer to a ``CustomAuthFinishAuthenticationChallenge``; the first one counts.
public protocol CustomAuthFinishAuthenticationChallengeSender: AnyObject, Sendable {
    /// The authenticator judges these data, which are in its own format and have 16 KiB at most.
    func respond(with data: String, to challenge: any CustomAuthFinishAuthenticationChallenge)
    /// The PIN is asked for instead.
    func respondWithPinFallback(to challenge: any CustomAuthFinishAuthenticationChallenge)
    /// The person has given up; a mobile authentication request is denied by that; the error is not used.
    func cancel(_ challenge: any CustomAuthFinishAuthenticationChallenge, underlyingError: (any Error)?)
}

extension CustomAuthFinishAuthenticationChallengeSender {
    /// The person has given up; a mobile authentication request is denied by that.
    public func cancel(_ challenge: any CustomAuthFinishAuthenticationChallenge) {
        cancel(challenge, underlyingError: nil)
    }
}

/// The app is to give the data by which a custom authenticator is registered.
public protocol CustomAuthFinishRegistrationChallenge: AnyObject, Sendable {
    /// Whose authenticator.
    var userProfile: any UserProfile { get }
    /// The custom authenticator.
    var authenticator: Authenticator { get }
    /// Takes the answer.
    var sender: any CustomAuthFinishRegistrationChallengeSender { get }
}

/// Takes the answer to a ``CustomAuthFinishRegistrationChallenge``; the first one counts.
public protocol CustomAuthFinishRegistrationChallengeSender: AnyObject, Sendable {
    /// The authenticator judges these data, which are in its own format and have 16 KiB at most.
    func respond(with data: String, to challenge: any CustomAuthFinishRegistrationChallenge)
    /// The person has given up; the error is not used.
    func cancel(_ challenge: any CustomAuthFinishRegistrationChallenge, underlyingError: (any Error)?)
}

/// The app is to show the issuer's pages in the person's browser.
public protocol BrowserRegistrationChallenge: AnyObject, Sendable {
    /// The way to register.
    var identityProvider: any IdentityProvider { get }
    /// The page to open.
    var url: URL { get }
    /// Always nil: a registration that fails ends.
    var error: (any Error)? { get }
    /// Takes the answer.
    var sender: any BrowserRegistrationChallengeSender { get }
}

/// Takes the answer to a ``BrowserRegistrationChallenge``; the first one counts.
public protocol BrowserRegistrationChallengeSender: AnyObject, Sendable {
    /// The browser has come back to the app, at this URL: the whole one, with its query.
    func respond(with url: URL, to challenge: any BrowserRegistrationChallenge)
    /// The person has given up.
    func cancel(_ challenge: any BrowserRegistrationChallenge)
}

/// The app is to have the person scan a ticket.
public protocol CustomRegistrationChallenge: AnyObject, Sendable {
    /// Always nil: nobody is registered yet.
    var userProfile: (any UserProfile)? { get }
    /// The way to register.
    var identityProvider: any IdentityProvider { get }
    /// Always nil.
    var info: (any CustomInfo)? { get }
    /// Always nil: a registration that fails ends.
    var error: (any Error)? { get }
    /// Takes the answer.
    var sender: any CustomRegistrationChallengeSender { get }
}

/// Takes the answer to a ``CustomRegistrationChallenge``; the first one counts.
public protocol CustomRegistrationChallengeSender: AnyObject, Sendable {
    /// The text of the ticket's QR code; nil counts as a text that is no ticket.
    func respond(with data: String?, to challenge: any CustomRegistrationChallenge)
    /// The person has given up; the error is not used.
    func cancel(_ challenge: any CustomRegistrationChallenge, withUnderlyingError: (any Error)?)
}

extension CustomRegistrationChallengeSender {
    /// The person has given up.
    public func cancel(_ challenge: any CustomRegistrationChallenge) {
        cancel(challenge, withUnderlyingError: nil)
    }
}
