package import CountersignWire
package import Encodings

/// The purposes for which a client's own server is called.
///
/// Calls of each purpose are signed by a different secret, so that the operator of one receiver cannot forge calls to
/// another.
package enum CallbackPurpose: String, CaseIterable, Sendable {
    /// To report how a challenge ended.
    case callbacks
    /// To report changes of the devices of the client's users.
    case notices
    /// To ask a custom authenticator, and to report that a device no longer has it.
    case hooks
}

extension KeyedHasher {
    /// The secret that signs calls of a purpose.
    ///
    /// Callbacks are signed by the callback secret itself. The other secrets are derived from it under this hasher's
    /// key.
    ///
    /// - Parameters:
    ///   - purpose: the purpose of the call.
    ///   - callbackSecret: the client's callback secret.
    package func secret(for purpose: CallbackPurpose, of callbackSecret: Secret<String>) -> Secret<String> {
        guard purpose != .callbacks else { return callbackSecret }
        return Secret("whsec_" + Base64.encode(code(of: "\(purpose.rawValue) \(callbackSecret.reveal())")))
    }
}

/// A receiver of a client's callbacks.
package struct CallbackReceiver: Hashable, Sendable {
    /// The client.
    package let client: ClientID
    /// The URI of the receiver.
    package let uri: CallbackURI

    /// A receiver of a client at a URI.
    package init(of client: ClientID, at uri: CallbackURI) {
        self.client = client
        self.uri = uri
    }
}

/// What is needed to send a callback to a client.
package struct CallbackAccess: Sendable {
    /// The secrets that sign the callback, the newest first; there are two while the previous secret is still valid.
    ///
    /// Spec: Standard Webhooks, *Signature scheme*.
    package let secrets: [Secret<String>]
    /// The credentials that the receiver asks for, in addition to the signature; nil for none.
    package let basic: BasicCredentials?
    /// Whether the receiver can be called.
    package let health: ReceiverHealth

    /// What is needed to send a call of a purpose: the secrets of that purpose and, only for callbacks, the
    /// credentials.
    package func access(for purpose: CallbackPurpose, _ hasher: KeyedHasher) -> CallbackAccess {
        CallbackAccess(
            secrets: secrets.map { hasher.secret(for: purpose, of: $0) }, basic: purpose == .callbacks ? basic : nil,
            health: health)
    }

    /// Whether a receiver can be called, by its own answers and by the state of its client.
    package enum ReceiverHealth: Sendable {
        /// Nothing speaks against calling the receiver.
        case good
        /// The receiver has answered 410 Gone, but not often or long enough to count as gone.
        case suspected
        /// The receiver counts as gone.
        case gone
        /// The client is disabled.
        case disabled

        /// Whether the client is not disabled.
        package var isEnabled: Bool { if case .disabled = self { false } else { true } }
    }

    /// Access of these parts.
    package init(secrets: [Secret<String>], basic: BasicCredentials?, health: ReceiverHealth) {
        self.secrets = secrets
        self.basic = basic
        self.health = health
    }
}

/// The rule by which a receiver that answers 410 Gone counts as gone.
///
/// Spec: Standard Webhooks, *Delivery*: such an endpoint is disabled.
package enum GoneReceiver {
    /// The minimum number of such answers.
    package static let answers: Int64 = 3
    /// The minimum time since the first such answer, so that a short mistake has no effect.
    package static let period = Seconds.minutes(10)
    /// The reason that is recorded with a message that is not sent because its receiver is gone.
    package static let reason =
        "the receiver said that it is gone: its URL is called again when the client's callback URLs are set anew"
}
