package import CountersignWire

/// Who acts in a unit of work, as the door or the sweep that began it says.
package enum Actor: Hashable, Sendable {
    /// A client, by its secret.
    case client(ClientID)
    /// A device, by its signature.
    case device(EnrollmentID)
    /// A user, on their account page.
    case user(UserID)
    /// The operator's client, by its secret.
    case `operator`(ClientID)
    /// Whoever has the bootstrap token, as the operator's client.
    case bootstrap(ClientID)
    /// The server itself: a sweep, a delivery, a command on its own machine, or its answer to an unknown caller.
    case system

    /// The client that acts; nil for a device, a user and the server.
    package var client: ClientID? {
        switch self {
        case .client(let id), .operator(let id), .bootstrap(let id): id
        case .device, .user, .system: nil
        }
    }

    /// The id of who acts; nil for the server.
    var id: String? {
        switch self {
        case .client(let id), .operator(let id), .bootstrap(let id): "\(id)"
        case .device(let id): "\(id)"
        case .user(let id): "\(id)"
        case .system: nil
        }
    }
}

/// The form in the audit, such as `device:enr_…`.
extension Actor: LosslessStringConvertible {
    /// The kind of the actor, and its id where it has one.
    package var description: String { id.map { "\(kind):\($0)" } ?? kind }

    /// Reads an actor in its form in the audit.
    package init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let actor: Actor?
        switch (parts[0], parts.dropFirst().first) {
        case ("client", let id?): actor = ClientID(id).map(Actor.client)
        case ("device", let id?): actor = EnrollmentID(id).map(Actor.device)
        case ("user", let id?): actor = UserID(id).map(Actor.user)
        case ("operator", let id?): actor = ClientID(id).map(Actor.operator)
        case ("bootstrap", let id?): actor = ClientID(id).map(Actor.bootstrap)
        case ("system", nil): actor = .system
        default: actor = nil
        }
        guard let actor else { return nil }
        self = actor
    }

    private var kind: String {
        switch self {
        case .client: "client"
        case .device: "device"
        case .user: "user"
        case .operator: "operator"
        case .bootstrap: "bootstrap"
        case .system: "system"
        }
    }
}
