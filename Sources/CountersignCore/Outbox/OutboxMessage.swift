package import CountersignWire
import Encodings

/// Something that must leave, at least once, with an id by which the receiver drops repeats.
package struct OutboxMessage: Sendable {
    /// How long delivery is tried.
    package static let lifetime = Seconds.days(1)

    /// What sort of receiver it has: none waits for another's.
    package enum Kind: String, CaseIterable, Sendable {
        /// A client's own server.
        case callback
        /// A push service.
        case push
        /// A mail server.
        case mail
        /// A gateway for text messages.
        case text
    }

    /// What leaves.
    package enum Content: Sendable {
        /// A callback to a client.
        ///
        /// Spec: Standard Webhooks.
        case callback(CallbackURI, client: ClientID, body: [UInt8])
        /// What has changed about the devices of a client's users.
        case notice(CallbackURI, client: ClientID, body: [UInt8])
        /// What a client's hook is told, where no answer is waited for.
        case hook(CallbackURI, client: ClientID, body: [UInt8])
        /// The announcement of a challenge to a device, made when it is sent: by then the badge is another.
        case push(ChallengeID, to: EnrollmentID, client: ClientID)
        /// Takes the notification of a challenge that has ended back from a device.
        case withdrawal(ChallengeID, to: EnrollmentID, client: ClientID)
        /// A message to a person, by mail or as a text message.
        case personal(PersonalMessage, to: PersonalAddress, client: ClientID)

        /// What sort of receiver it has.
        package var kind: Kind {
            switch self {
            case .callback, .notice, .hook: .callback
            case .push, .withdrawal: .push
            case .personal(_, .email, _): .mail
            case .personal(_, .phone, _): .text
            }
        }

        /// What is posted to a client's own server, and what for; nil for what goes elsewhere.
        package var posted: (purpose: CallbackPurpose, uri: CallbackURI, body: [UInt8])? {
            switch self {
            case .callback(let uri, _, let body): (.callbacks, uri, body)
            case .notice(let uri, _, let body): (.notices, uri, body)
            case .hook(let uri, _, let body): (.hooks, uri, body)
            case .push, .withdrawal, .personal: nil
            }
        }

        /// Whose it is.
        package var client: ClientID {
            switch self {
            case .callback(_, let client, _), .notice(_, let client, _), .hook(_, let client, _),
                .push(_, _, let client), .withdrawal(_, _, let client), .personal(_, _, let client):
                client
            }
        }
    }

    /// Where it queues.
    package var lane: OutboxLane {
        OutboxLane(client: content.client, host: content.posted?.uri.authority)
    }

    /// Its id, the `webhook-id` of a callback.
    package let id: EventID
    /// What leaves.
    package let content: Content
    /// From when on.
    package let dueAt: Timestamp
    /// Until when it is tried.
    package let expiresAt: Timestamp

    /// A message of these parts.
    package init(id: EventID, content: Content, dueAt: Timestamp, expiresAt: Timestamp) {
        self.id = id
        self.content = content
        self.dueAt = dueAt
        self.expiresAt = expiresAt
    }
}
