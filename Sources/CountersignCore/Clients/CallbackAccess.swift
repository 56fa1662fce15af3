package import CountersignWire
package import Encodings

/// What a client's own server is called for: each is signed by a secret of its own, so that who runs one receiver forges
/// nothing at another.
package enum CallbackPurpose: String, CaseIterable, Sendable {
    /// To tell how a challenge ended.
    case callbacks
    /// To tell what has changed about the devices of its users.
    case notices
    /// To judge by a custom authenticator, and to tell that a device has it no more.
    case hooks
}

extension KeyedHasher {
    /// The secret that signs for a purpose, made of the one for callbacks and of what nobody else has.
    package func secret(for purpose: CallbackPurpose, of callbackSecret: Secret<String>) -> Secret<String> {
        guard purpose != .callbacks else { return callbackSecret }
        return Secret("whsec_" + Base64.encode(code(of: "\(purpose.rawValue) \(callbackSecret.reveal())")))
    }
}

/// Who takes a client's callbacks.
package struct CallbackReceiver: Hashable, Sendable {
    /// The client.
    package let client: ClientID
    /// Where it takes them.
    package let uri: CallbackURI

    /// One of a client's receivers.
    package init(of client: ClientID, at uri: CallbackURI) {
        self.client = client
        self.uri = uri
    }
}

/// What a callback to a client is sent with.
package struct CallbackAccess: Sendable {
    /// What signs it, the newest first: two while an earlier secret is still good.
    ///
    /// Spec: Standard Webhooks, *Signature scheme*.
    package let secrets: [Secret<String>]
    /// What the receiver asks for besides.
    package let basic: BasicCredentials?
    /// What is held against the receiver.
    package let health: ReceiverHealth

    /// What is sent for a purpose: signed by its own secrets, the password with callbacks alone.
    package func access(for purpose: CallbackPurpose, _ hasher: KeyedHasher) -> CallbackAccess {
        CallbackAccess(
            secrets: secrets.map { hasher.secret(for: purpose, of: $0) }, basic: purpose == .callbacks ? basic : nil,
            health: health)
    }

    /// What a receiver has said of itself, and the operator of its client.
    package enum ReceiverHealth: Sendable {
        /// Nothing.
        case good
        /// That it is gone, but not for long enough to be believed.
        case suspected
        /// That it is gone.
        case gone
        /// Nothing, but its client is disabled.
        case disabled

        /// Whether its client is not disabled.
        package var isEnabled: Bool { if case .disabled = self { false } else { true } }
    }

    /// Access by these.
    package init(secrets: [Secret<String>], basic: BasicCredentials?, health: ReceiverHealth) {
        self.secrets = secrets
        self.basic = basic
        self.health = health
    }
}

/// A receiver that answers nothing but 410 Gone.
///
/// Spec: Standard Webhooks, *Delivery*: such an endpoint is disabled.
package enum GoneReceiver {
    /// How many such answers it takes at least.
    package static let answers: Int64 = 3
    /// How long they must have come at least: nobody is disabled for a moment's mistake.
    package static let period = Seconds.minutes(10)
    /// What is said of a message that is not sent for it.
    package static let reason =
        "the receiver said that it is gone: its URL is called again when the client's callback URLs are set anew"
}
