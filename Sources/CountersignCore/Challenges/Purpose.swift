package import CountersignWire

/// What a challenge is asked for.
package enum Purpose: Hashable, Sendable {
    /// A relying party asks its user.
    case relyingParty
    /// The server asks the user's devices whether a new one may be added: this one.
    case newDevice(EnrollmentID)
    /// The server asks the user's devices whether the user wants to sign in at a client.
    case authorization(AuthorizationID)
    /// The server asks a device for the PIN or the biometric by which it signs its user in.
    case ownSignIn

    /// The sign-in that it is asked for; nil for none.
    package var authorization: AuthorizationID? { if case .authorization(let id) = self { id } else { nil } }

    /// Whether a sign-in asks it, by whichever door.
    var isOfSignIn: Bool {
        switch self {
        case .authorization, .ownSignIn: true
        case .relyingParty, .newDevice: false
        }
    }

    /// Whether the end of the challenge changes which devices the user has; the user's row is then locked first.
    var changesDevices: Bool {
        switch self {
        case .relyingParty, .authorization, .ownSignIn: false
        case .newDevice: true
        }
    }

    /// Whether the challenge fails as soon as no device can approve it.
    ///
    /// A question about a new device stays open: a device that cannot approve it can still deny it.
    var failsWhenUnanswerable: Bool {
        switch self {
        case .relyingParty, .authorization, .ownSignIn: true
        case .newDevice: false
        }
    }
}
