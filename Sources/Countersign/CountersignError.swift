public import CountersignWire

/// Every error that the SDK throws; each has a stable code, a description and a suggestion.
///
/// Minor versions add cases: keep a `default` in every `switch`.
public enum CountersignError: Error, Sendable {
    /// A request failed in the network; the value is the system's description.
    case network(String)
    /// The reply was not the server's, or the server failed.
    case serverUnreachable(status: Int)
    /// The device's clock is wrong by more than the SDK corrects.
    case clockSkew(by: Duration)
    /// The server removed the enrollment, with a signed notice that holds the reason; the keys were deleted from this
    /// device.
    case deviceDeregistered(Removal)
    /// There is no such enrollment on this device.
    case notEnrolled
    /// The server does not know the enrollment.
    ///
    /// Nothing was deleted from this device.
    case enrollmentUnknown
    /// The scanned text is not an invitation that this app accepts.
    case invitationRefused(InvitationRefusal)
    /// The ticket was used, is too old, or is unknown.
    case ticketRefused(code: String)
    /// This device waits until another device of the user approves it.
    case enrollmentWaiting
    /// This device is suspended, and can only remove itself.
    case enrollmentSuspended
    /// The user has a PIN or a biometric, and only a device that signs with one of them may do this.
    case methodNeeded
    /// None of the issuer's current keys has signed the message.
    case serverChanged
    /// There is no such challenge for this device.
    case challengeNotFound
    /// Nobody answered in time.
    case challengeExpired
    /// The challenge was answered before, here or on another device.
    case alreadyAnswered
    /// The challenge ended in another way: `cancelled` or `failed`, with the reason.
    case challengeEnded(state: String, reason: String?)
    /// This version of the SDK cannot show or answer the challenge, or the challenge does not pass its checks.
    case notHandleable(reason: String)
    /// The scanned text is not the code of a challenge that this device can claim.
    case codeRefused(CodeRefusal)
    /// The client that asks is not linked to this user.
    case userNotLinked
    /// Another client enrolled this device, and its user has not confirmed it: the client that asks does not believe it.
    case enrollmentNotConfirmed
    /// This device has none of the methods that the challenge allows.
    case methodMissing([AnswerMethod])
    /// A number of this many digits must be typed.
    case numberRequired(length: Int)
    /// The number was wrong; the challenge has failed.
    case numberIncorrect
    /// The PIN breaks this rule and cannot be set.
    case pinPolicy(PINViolation)
    /// The PIN is wrong; the same challenge can be answered again unless no attempt is left.
    case pinIncorrect(attemptsLeft: Int)
    /// The PIN was wrong too often, or this device has lost the data that belong to it.
    case pinLocked
    /// This enrollment has no PIN.
    case pinNotSet
    /// This enrollment has a PIN, which the change needs.
    case pinRequired
    /// This enrollment has a PIN already: use a change instead.
    case pinAlreadySet
    /// The biometric check failed, for this reason.
    case biometric(BiometricFailure)
    /// The custom authenticator asks for another attempt; the values are the attempts left, if they are limited, and
    /// the authenticator's data for the app.
    case customRetry(attemptsLeft: Int?, payload: String?)
    /// The custom authenticator refused and is no longer registered; the value is its data for the app.
    case customFailed(payload: String?)
    /// The custom authenticator is not registered for this enrollment.
    case customNotRegistered
    /// The server cannot reach the custom authenticator now.
    case customUnavailable
    /// The enrollment is too old to set its first method without a ticket.
    case authorityNeeded
    /// A value that the app gave to the SDK is invalid; the text says which.
    case configurationInvalid(String)
    /// Another enrollment of the same user has registered this push token.
    case pushTokenInUse
    /// The push is not from the server, not for this device, or out of date.
    case pushRefused(PushRefusal)
    /// The issuer signed nobody in, for this reason.
    case signInRefused(SignInRefusal)
    /// What the browser brought back is not the answer to this app's request.
    case signInResponse(ResponseFault)
    /// The ID token does not prove who signed in.
    case idTokenRefused(IDTokenFault)
    /// The issuer's document or one of its replies cannot be used; the text says why.
    case providerInvalid(String)
    /// There was no browser, or nobody came back from it in time; the text says which.
    case browserFailed(String)
    /// Nobody is signed in to the app, or the sign-in did not outlive its access token.
    case notSignedIn
    /// The issuer has ended the sign-in; its tokens were deleted from this device.
    case signInEnded
    /// The vault could not store or read keys or records.
    case vault(String)
    /// The task was cancelled.
    case cancelled
    /// The server refused for a reason that has no case of its own.
    case server(ProblemDetails)
}

/// Why the code of a challenge is refused.
public enum CodeRefusal: String, Sendable {
    /// It is not the code of a challenge; or it is a scanned code in a link, or a link's code in a picture.
    case malformed
    /// The server does not know it, or it belongs to another user.
    case invalid
    /// It was shown too long ago.
    case expired
    /// Another device has claimed it.
    case alreadyClaimed = "already_claimed"
}

/// Why an invitation is refused.
public enum InvitationRefusal: String, Sendable {
    /// It is not an invitation.
    case malformed
    /// It names another issuer than the configured one.
    case otherIssuer = "other_issuer"
    /// The server's certificate is not the one the invitation names.
    case wrongFingerprint = "wrong_fingerprint"
}

extension CountersignError {
    /// The stable code.
    public var code: String {
        switch self {
        case .network: "network"
        case .serverUnreachable: "server_unreachable"
        case .clockSkew: "clock_skew"
        case .deviceDeregistered: "device_deregistered"
        case .notEnrolled: "not_enrolled"
        case .enrollmentUnknown: "unknown_enrollment"
        case .invitationRefused(let refusal): "invitation_\(refusal.rawValue)"
        case .ticketRefused(let code): code
        case .enrollmentWaiting: "enrollment_waiting"
        case .enrollmentSuspended: "enrollment_suspended"
        case .methodNeeded: "method_needed"
        case .serverChanged: "server_changed"
        case .challengeNotFound: "challenge_not_found"
        case .challengeExpired: "challenge_expired"
        case .alreadyAnswered: "already_answered"
        case .challengeEnded: "challenge_ended"
        case .notHandleable: "not_handleable"
        case .codeRefused(let refusal): "code_\(refusal.rawValue)"
        case .userNotLinked: "user_not_linked"
        case .enrollmentNotConfirmed: "enrollment_not_confirmed"
        case .methodMissing: "method_missing"
        case .numberRequired: "number_required"
        case .numberIncorrect: "number_incorrect"
        case .pinPolicy: "pin_policy"
        case .pinIncorrect: "pin_incorrect"
        case .pinLocked: "pin_locked"
        case .pinNotSet: "pin_not_set"
        case .pinRequired: "pin_required"
        case .pinAlreadySet: "pin_already_set"
        case .biometric(let failure): "biometric_\(failure.rawValue)"
        case .customRetry: "custom_retry"
        case .customFailed: "custom_failed"
        case .customNotRegistered: "custom_not_registered"
        case .customUnavailable: "custom_unavailable"
        case .authorityNeeded: "authority_needed"
        case .configurationInvalid: "configuration_invalid"
        case .pushTokenInUse: "push_token_in_use"
        case .pushRefused: "push_refused"
        case .signInRefused(let refusal): "sign_in_\(refusal.word)"
        case .signInResponse(let fault): "response_\(fault.rawValue)"
        case .idTokenRefused(let fault): "id_token_\(fault.rawValue)"
        case .providerInvalid: "provider_invalid"
        case .browserFailed: "browser_failed"
        case .notSignedIn: "not_signed_in"
        case .signInEnded: "sign_in_ended"
        case .vault: "vault"
        case .cancelled: "cancelled"
        case .server(let problem): problem.code
        }
    }

    /// Whether the same call can succeed later.
    public var retryHelps: Bool {
        switch self {
        case .network, .serverUnreachable, .vault, .cancelled, .customUnavailable, .signInRefused(.unavailable): true
        case .server(let problem):
            problem.knownCode?.meaning.retryHelps ?? (problem.status == 429 || problem.status >= 500)
        case .clockSkew, .deviceDeregistered, .notEnrolled, .enrollmentUnknown, .invitationRefused, .ticketRefused,
            .enrollmentWaiting, .enrollmentSuspended, .methodNeeded, .serverChanged, .challengeNotFound,
            .challengeExpired, .alreadyAnswered,
            .challengeEnded,
            .notHandleable, .codeRefused, .userNotLinked, .enrollmentNotConfirmed, .methodMissing, .numberRequired,
            .numberIncorrect, .pinPolicy,
            .pinIncorrect, .pinLocked, .pinNotSet,
            .pinRequired, .pinAlreadySet, .biometric, .customRetry, .customFailed, .customNotRegistered,
            .authorityNeeded,
            .configurationInvalid, .pushTokenInUse, .pushRefused, .signInRefused, .signInResponse, .idTokenRefused,
            .providerInvalid, .browserFailed, .notSignedIn, .signInEnded:
            false
        }
    }

    /// A suggestion for the user or the developer.
    public var suggestion: String {
        switch self {
        case .network: "Check the network and try again; an answer already given is kept and sent again."
        case .serverUnreachable: "Check the issuer's URL, or try again later."
        case .clockSkew: "Set the device's date and time."
        case .deviceDeregistered: "Enroll this device again with a new ticket."
        case .notEnrolled: "Enroll this device first."
        case .enrollmentUnknown: "Check that this is the server the device was enrolled with."
        case .invitationRefused: "Have a new ticket made for this app, and scan its QR code from the page itself."
        case .ticketRefused:
            "Have a new ticket made, or the person sign in again; each enrolls one device within ten minutes."
        case .enrollmentWaiting: "Approve it on a device that the user has, or wait until it is let in."
        case .enrollmentSuspended: "Resume it on another device of the user, or have the operator resume it."
        case .methodNeeded: "Do it on the device that has the PIN or the biometric, or have the operator do it."
        case .serverChanged: "Do not trust it. If it stays so, enroll this device again with a new ticket."
        case .challengeNotFound, .challengeExpired, .alreadyAnswered, .challengeEnded: "Nothing is left to answer."
        case .notHandleable: "Update the app."
        case .codeRefused(.malformed): "Scan the code of a challenge, from the page that shows it."
        case .codeRefused: "Scan the code that is shown now; each works for a minute and for one device."
        case .enrollmentNotConfirmed: "Enroll with the one who asks, and approve it with a device that it believes."
        case .userNotLinked: "Enroll with the one who asks, or use a device of a user that it knows."
        case .methodMissing: "Set up what is missing, then try again."
        case .numberRequired(let length): "Type the \(length) digits shown where you started this."
        case .numberIncorrect: "Start again where you came from, and type the new number."
        case .pinPolicy(let violation): Self.cure(of: violation)
        case .pinIncorrect(let attemptsLeft): attemptsLeft > 0 ? "Type it again." : "Enroll this device again."
        case .pinLocked: "Enroll this device again with a new ticket, and set a PIN."
        case .pinNotSet: "Set a PIN first."
        case .pinRequired: "Ask for the PIN, and call again with it."
        case .pinAlreadySet: "Change the PIN, with the one there is."
        case .biometric(let failure): Self.cure(of: failure)
        case .customRetry: "Have the user try again."
        case .customFailed: "Use another method; the authenticator can be registered again."
        case .customNotRegistered: "Register it first, or use another method."
        case .customUnavailable: "Use another method, or try again later."
        case .authorityNeeded: "Have a new ticket made for this user, and use it."
        case .configurationInvalid: "Mend the call in the app."
        case .pushTokenInUse: "Remove the user's other enrollment on this device, then register again."
        case .pushRefused: "Ignore the notification; what is really pending is fetched from the server."
        case .signInRefused(.declined): "Start the sign-in anew if it was a mistake."
        case .signInRefused(.loginRequired), .notSignedIn, .signInEnded: "Have the person sign in."
        case .signInRefused(.expired): "Start the sign-in anew, with the phone at hand."
        case .signInRefused(.unavailable): "Try again in a moment."
        case .signInRefused(.other): "Compare the app's registration with what the issuer knows of it."
        case .signInResponse: "Start the sign-in anew, from the app; do not go on with this one."
        case .idTokenRefused(.expired), .idTokenRefused(.future): "Set the device's date and time, and sign in anew."
        case .idTokenRefused(.acr), .idTokenRefused(.authTime):
            "Have the person sign in anew, by what the app asks for."
        case .idTokenRefused: "Do not trust it. Check the issuer's URL, and sign in anew."
        case .providerInvalid: "Check the issuer's URL; it must be an OpenID provider for apps, with PKCE."
        case .browserFailed: "Open the address in a browser, and finish there in time."
        case .vault: "Free some space, unlock the device, and try again."
        case .cancelled: "Call again when it is wanted."
        case .server(let problem): problem.knownCode?.meaning.cure ?? "See the server's documentation."
        }
    }
}

extension CountersignError {
    private static func cure(of failure: BiometricFailure) -> String {
        switch failure {
        case .unavailable: "Set biometrics up on this device, or use the PIN."
        case .failed, .cancelled: "Try again, or use the PIN."
        case .fallback: "Ask for the PIN; the same challenge can be answered with it."
        case .lockout: "Unlock the device with its passcode, or use the PIN."
        case .changed: "Register the biometric anew, after the PIN."
        case .notRegistered: "Register the biometric first."
        }
    }

    private static func cure(of violation: PINViolation) -> String {
        switch violation {
        case .length: "Choose one with as many digits as the policy says."
        case .repeats: "Choose one in which no digit stands so often."
        case .sequence: "Choose one whose digits do not follow one another."
        case .blocked: "Choose one that not everybody chooses."
        }
    }

    /// Whether the SDK sends the same bytes again until it gets another reply.
    ///
    /// It does not when a custom authenticator cannot be reached: the user then waits or chooses another method.
    var isSentAgain: Bool {
        switch self {
        case .customUnavailable: false
        case .server(let problem) where problem.knownCode == .customUnavailable: false
        default: retryHelps
        }
    }

    /// Whether the enrollment is gone, on this device and on the server.
    var isDeregistration: Bool {
        if case .deviceDeregistered = self { true } else { false }
    }
}

extension CountersignError: CustomStringConvertible {
    /// What happened, in one sentence for a developer.
    public var description: String {
        switch self {
        case .network(let reason): "The network failed: \(reason)."
        case .serverUnreachable(let status): "The server did not answer as it should (status \(status))."
        case .clockSkew(let skew): "The device's clock is off by \(skew)."
        case .deviceDeregistered: "The server has removed this device's enrollment."
        case .notEnrolled: "There is no such enrollment on this device."
        case .enrollmentUnknown: "The server does not know this enrollment."
        case .invitationRefused(let refusal): "The invitation is refused (\(refusal.rawValue))."
        case .ticketRefused(let code): "The ticket is refused (\(code))."
        case .enrollmentWaiting: "This device waits to be approved by another one."
        case .enrollmentSuspended: "This device is suspended."
        case .methodNeeded: "The user has a PIN or a biometric, and this device signs by none."
        case .serverChanged: "It is signed by no key that counts of the issuer this device has enrolled with."
        case .challengeNotFound: "There is no such challenge for this device."
        case .challengeExpired: "The challenge has expired."
        case .alreadyAnswered: "The challenge was answered before."
        case .challengeEnded(let state, let reason):
            "The challenge has ended: \(state)\(reason.map { " (\($0))" } ?? "")."
        case .notHandleable(let reason): "The challenge cannot be handled: \(reason)."
        case .codeRefused(let refusal): "The code is refused (\(refusal.rawValue))."
        case .enrollmentNotConfirmed: "The one who asks does not believe this device yet."
        case .userNotLinked: "The one who asks does not know this user."
        case .methodMissing(let methods):
            "This device cannot answer by \(methods.map(\.rawValue).joined(separator: " or "))."
        case .numberRequired(let length): "A number of \(length) digits must be typed."
        case .numberIncorrect: "The number was not the one shown; the challenge has failed."
        case .pinPolicy(let violation): "This PIN cannot be set (\(violation.rawValue))."
        case .pinIncorrect(let attemptsLeft):
            "The PIN is wrong; \(attemptsLeft == 1 ? "1 attempt is" : "\(attemptsLeft) attempts are") left."
        case .pinLocked: "The PIN is locked."
        case .pinNotSet: "This device has no PIN."
        case .pinRequired: "The change needs the PIN there is."
        case .pinAlreadySet: "This device has a PIN already."
        case .biometric(let failure): "The biometric proved nothing (\(failure.rawValue))."
        case .customRetry(let attemptsLeft, _):
            "The custom authenticator wants another try"
                + (attemptsLeft.map { "; \($0 == 1 ? "1 attempt is" : "\($0) attempts are") left." } ?? ".")
        case .customFailed: "The custom authenticator refused, and is registered no more."
        case .customNotRegistered: "The custom authenticator is not registered for this device."
        case .customUnavailable: "The custom authenticator cannot be asked now."
        case .authorityNeeded: "The enrollment is too old to set its first method without a ticket."
        case .configurationInvalid(let reason): "The app is not set up right: \(reason)."
        case .pushTokenInUse: "Another enrollment of the same user has this push token."
        case .pushRefused(let refusal): "The push is refused (\(refusal))."
        case .signInRefused(.declined): "The person has declined the sign-in."
        case .signInRefused(.loginRequired): "The person would have to sign in."
        case .signInRefused(.expired): "Nobody has approved the sign-in in time."
        case .signInRefused(.unavailable): "The issuer cannot sign anybody in now."
        case .signInRefused(.other(let code)): "The issuer refuses the sign-in (\(code))."
        case .signInResponse(let fault):
            "What came back from the browser is not the answer to this sign-in (\(fault.rawValue))."
        case .idTokenRefused(let fault): "The ID token does not prove who signed in (\(fault.rawValue))."
        case .providerInvalid(let reason): "The issuer cannot be used: \(reason)."
        case .browserFailed(let reason): "The browser did not come back: \(reason)."
        case .notSignedIn: "Nobody is signed in to this app."
        case .signInEnded: "The issuer has ended the sign-in."
        case .vault(let reason): "Keys or records could not be kept or read: \(reason)."
        case .cancelled: "The call was cancelled."
        case .server(let problem): "The server refused: \(problem.title)\(problem.detail.map { " (\($0))" } ?? "")."
        }
    }
}
