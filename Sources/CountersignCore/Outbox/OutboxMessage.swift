package import CountersignWire
import Encodings

/// A message that must be delivered at least once; by its id the receiver recognises repeats.
package struct OutboxMessage: Sendable {
    /// How long delivery of a callback, a notice, a hook message or a logout token is tried; what a client's server has
    /// asked for is over sooner.
    package static let lifetime = Seconds.days(1)

    /// The kind of receiver; messages of one kind do not wait for those of another.
    package enum Kind: String, CaseIterable, Sendable {
        /// A client's own server.
        case callback
        /// A push service.
        case push
        /// A mail server.
        case mail
        /// A gateway for text messages.
        case text
        /// A client's own server, which is told that a session has ended.
        case logout
        /// A client's own server, which is told that somebody has decided about its request.
        case backchannel
        /// The server itself, for what a page must not wait for.
        case signIn = "sign-in"
    }

    /// The content of a message.
    package enum Content: Sendable {
        /// A callback to a client.
        ///
        /// Spec: Standard Webhooks.
        case callback(CallbackURI, client: ClientID, body: [UInt8])
        /// A notice to a client about changes of its users' devices.
        case notice(CallbackURI, client: ClientID, body: [UInt8])
        /// A message to a client's hook that needs no reply.
        case hook(CallbackURI, client: ClientID, body: [UInt8])
        /// The announcement of a challenge to a device; it is made when it is sent, because its badge changes until
        /// then.
        case push(ChallengeID, to: EnrollmentID, client: ClientID)
        /// Removes the notification of an ended challenge from a device.
        case withdrawal(ChallengeID, to: EnrollmentID, client: ClientID)
        /// A message to a person, by mail or as a text message.
        case personal(PersonalMessage, to: PersonalAddress, client: ClientID)
        /// That a session of a user has ended, by its name for a client; the token is made when it is sent, because it is
        /// good for minutes only.
        ///
        /// The URI is where the client listened when the session ended. It decides the lane alone: the token goes to where
        /// the client listens when it is sent. Spec: OpenID Connect Back-Channel Logout 1.0 §2.5.
        case logout(CallbackURI, client: ClientID, sid: String, of: UserID)
        /// That somebody has decided about the request of a client's server, or nobody in time; what is told is made when
        /// it is sent, so that no token lies in a row.
        ///
        /// As with a logout, the URI decides the lane alone. Spec: CIBA Core 1.0 §10.2, §10.3.
        case backchannel(CallbackURI, client: ClientID, of: AuthorizationID, BackchannelEvent)
        /// The code of a sign-in; it is made when it is sent, and only if the address is somebody's.
        case signInCode(AuthorizationID, of: VerificationID, by: PersonalAddress.Kind, client: ClientID)
        /// The question about a sign-in to the devices of the person who was named, if there is such a person.
        case signIn(AuthorizationID, by: ChallengeID, client: ClientID)

        /// The kind of receiver.
        package var kind: Kind {
            switch self {
            case .callback, .notice, .hook: .callback
            case .push, .withdrawal: .push
            case .personal(_, .email, _), .signInCode(_, _, .email, _): .mail
            case .personal(_, .phone, _), .signInCode(_, _, .phone, _): .text
            case .logout: .logout
            case .backchannel: .backchannel
            case .signIn: .signIn
            }
        }

        /// What is posted to a client's own server, with its purpose; nil for messages to other receivers.
        package var posted: (purpose: CallbackPurpose, uri: CallbackURI, body: [UInt8])? {
            switch self {
            case .callback(let uri, _, let body): (.callbacks, uri, body)
            case .notice(let uri, _, let body): (.notices, uri, body)
            case .hook(let uri, _, let body): (.hooks, uri, body)
            case .push, .withdrawal, .personal, .logout, .backchannel, .signInCode, .signIn: nil
            }
        }

        /// The client's own server; nil for messages to other receivers.
        package var receiver: CallbackURI? {
            switch self {
            case .logout(let uri, _, _, _), .backchannel(let uri, _, _, _): uri
            case .callback, .notice, .hook, .push, .withdrawal, .personal, .signInCode, .signIn: posted?.uri
            }
        }

        /// The client that caused the message.
        package var client: ClientID {
            switch self {
            case .callback(_, let client, _), .notice(_, let client, _), .hook(_, let client, _),
                .push(_, _, let client), .withdrawal(_, _, let client), .personal(_, _, let client),
                .logout(_, let client, _, _), .backchannel(_, let client, _, _), .signInCode(_, _, _, let client),
                .signIn(_, _, let client):
                client
            }
        }
    }

    /// The lane in which the message queues.
    package var lane: OutboxLane {
        OutboxLane(client: content.client, host: content.receiver?.authority)
    }

    /// The message's id; a callback sends it as `webhook-id`.
    package let id: EventID
    /// The content.
    package let content: Content
    /// When the first attempt is due.
    package let dueAt: Timestamp
    /// The end of the time for attempts.
    package let expiresAt: Timestamp

    /// A message of these parts.
    package init(id: EventID, content: Content, dueAt: Timestamp, expiresAt: Timestamp) {
        self.id = id
        self.content = content
        self.dueAt = dueAt
        self.expiresAt = expiresAt
    }
}

/// What the server of a client is told about its request.
package enum BackchannelEvent: String, Sendable {
    /// Somebody has decided.
    case decided
    /// Nobody has decided in time.
    case expired
}
