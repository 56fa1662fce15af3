import Foundation

/// The answers to a challenge of an authenticator's.
enum Response: Sendable {
    /// The PIN, the text of the system's prompt, or the data for a custom authenticator.
    case text(String)
    /// The PIN is to be asked for instead.
    case pinInstead
    /// The person has given up.
    case cancelled
}

/// How often a PIN may still be wrong.
struct Attempts: Sendable {
    var maximum: Int
    var left: Int
}

final class PinQuestion: PinChallenge, PinChallengeSender {
    let userProfile: any UserProfile
    let authenticator: Authenticator
    let maxFailureCount: UInt
    let previousFailureCount: UInt
    let remainingFailureCount: UInt
    let error: (any Error)?
    private let answer: Answer<Response>

    var sender: any PinChallengeSender { self }

    init(
        _ profile: any UserProfile, _ authenticator: Authenticator, _ attempts: Attempts, _ error: (any Error)?,
        _ answer: Answer<Response>
    ) {
        userProfile = profile
        self.authenticator = authenticator
        maxFailureCount = UInt(max(0, attempts.maximum))
        remainingFailureCount = UInt(max(0, attempts.left))
        previousFailureCount = UInt(max(0, attempts.maximum - attempts.left))
        self.error = error
        self.answer = answer
    }

    func respond(with pin: String, to challenge: any PinChallenge) { answer.give(.text(pin)) }
    func cancel(_ challenge: any PinChallenge) { answer.give(.cancelled) }
}

final class CreatePinQuestion: CreatePinChallenge, CreatePinChallengeSender {
    let userProfile: (any UserProfile)?
    let pinLength: UInt
    let error: (any Error)?
    private let answer: Answer<Response>

    var sender: any CreatePinChallengeSender { self }

    init(_ profile: (any UserProfile)?, length: Int, _ error: (any Error)?, _ answer: Answer<Response>) {
        userProfile = profile
        pinLength = UInt(max(0, length))
        self.error = error
        self.answer = answer
    }

    func respond(with pin: String, to challenge: any CreatePinChallenge) { answer.give(.text(pin)) }
    func cancel(_ challenge: any CreatePinChallenge) { answer.give(.cancelled) }
}

final class BiometricQuestion: BiometricChallenge, BiometricChallengeSender {
    let userProfile: any UserProfile
    let authenticator: Authenticator
    private let answer: Answer<Response>

    var sender: any BiometricChallengeSender { self }

    init(_ profile: any UserProfile, _ authenticator: Authenticator, _ answer: Answer<Response>) {
        userProfile = profile
        self.authenticator = authenticator
        self.answer = answer
    }

    func respond(with prompt: String, to challenge: any BiometricChallenge) { answer.give(.text(prompt)) }
    func respondWithPinFallback(to challenge: any BiometricChallenge) { answer.give(.pinInstead) }
    func cancel(_ challenge: any BiometricChallenge) { answer.give(.cancelled) }
}

final class CustomQuestion: CustomAuthFinishAuthenticationChallenge, CustomAuthFinishAuthenticationChallengeSender {
    let userProfile: (any UserProfile)?
    let authenticator: Authenticator?
    let challengeData: Data? = nil
    let error: (any Error)?
    private let answer: Answer<Response>

    var sender: any CustomAuthFinishAuthenticationChallengeSender { self }

    init(
        _ profile: any UserProfile, _ authenticator: Authenticator, _ error: (any Error)?, _ answer: Answer<Response>
    ) {
        userProfile = profile
        self.authenticator = authenticator
        self.error = error
        self.answer = answer
    }

    func respond(with data: String, to challenge: any CustomAuthFinishAuthenticationChallenge) {
        answer.give(.text(data))
    }
    func respondWithPinFallback(to challenge: any CustomAuthFinishAuthenticationChallenge) {
        answer.give(.pinInstead)
    }
    func cancel(_ challenge: any CustomAuthFinishAuthenticationChallenge, underlyingError: (any Error)?) {
        answer.give(.cancelled)
    }
}

final class CustomRegistrationDataQuestion: CustomAuthFinishRegistrationChallenge,
    CustomAuthFinishRegistrationChallengeSender
{
    let userProfile: any UserProfile
    let authenticator: Authenticator
    private let answer: Answer<Response>

    var sender: any CustomAuthFinishRegistrationChallengeSender { self }

    init(_ profile: any UserProfile, _ authenticator: Authenticator, _ answer: Answer<Response>) {
        userProfile = profile
        self.authenticator = authenticator
        self.answer = answer
    }

    func respond(with data: String, to challenge: any CustomAuthFinishRegistrationChallenge) {
        answer.give(.text(data))
    }
    func cancel(_ challenge: any CustomAuthFinishRegistrationChallenge, underlyingError: (any Error)?) {
        answer.give(.cancelled)
    }
}

final class BrowserQuestion: BrowserRegistrationChallenge, BrowserRegistrationChallengeSender {
    let identityProvider: any IdentityProvider = RegistrationWay.browser
    let url: URL
    let error: (any Error)? = nil
    private let answer: Answer<URL?>

    var sender: any BrowserRegistrationChallengeSender { self }

    init(_ url: URL, _ answer: Answer<URL?>) {
        self.url = url
        self.answer = answer
    }

    func respond(with url: URL, to challenge: any BrowserRegistrationChallenge) { answer.give(url) }
    func cancel(_ challenge: any BrowserRegistrationChallenge) { answer.give(nil) }
}

final class TicketQuestion: CustomRegistrationChallenge, CustomRegistrationChallengeSender {
    let userProfile: (any UserProfile)? = nil
    let identityProvider: any IdentityProvider = RegistrationWay.ticket
    let info: (any CustomInfo)? = nil
    let error: (any Error)? = nil
    private let answer: Answer<Response>

    var sender: any CustomRegistrationChallengeSender { self }

    init(_ answer: Answer<Response>) {
        self.answer = answer
    }

    func respond(with data: String?, to challenge: any CustomRegistrationChallenge) {
        answer.give(.text(data ?? ""))
    }
    func cancel(_ challenge: any CustomRegistrationChallenge, withUnderlyingError: (any Error)?) {
        answer.give(.cancelled)
    }
}
