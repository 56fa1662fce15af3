package import CountersignWire

/// How many devices of one user may be enrolled through a client at a time.
package typealias DeviceLimit = EnrollmentPolicies.DeviceLimit

/// A relying party.
package struct Client: Hashable, Sendable {
    /// How long a further device waits that no earlier one approves, unless the client sets another time.
    package static let standardCoolingOff = Seconds.days(1)

    /// The client's id.
    package let id: ClientID
    /// The name that users see.
    package let name: ClientName
    /// The hash of the client's secret; nil for the operator's built-in client, which has none.
    package let secretHash: SecretHash?
    /// The rights of the client.
    package let rights: Set<Right>
    /// The URIs to which its callbacks may be sent.
    package let callbackURIs: [CallbackURI]
    /// The URIs to which devices may return after they have opened a link.
    package let returnURIs: [ReturnURI]
    /// Where the client is notified of changes of its users' devices; nil for nowhere.
    package let noticeURI: CallbackURI?
    /// The username that its receiver asks for, in addition to the signature; nil for none.
    package let callbackUsername: String?
    /// Whether the operator has waived that an earlier device approves each further device enrolled by the client's
    /// tickets.
    package let waivesEnrollmentApproval: Bool
    /// How long a further device waits before it counts, if no earlier device approves it.
    package let coolingOff: Seconds
    /// The rules for the PINs of devices that enrolled through the client.
    package let pinPolicy: PINPolicy
    /// How many devices of one user may be enrolled through the client; nil for no limit.
    package let deviceLimit: DeviceLimit?
    /// The authenticators of the client's own, for the devices that enrolled through it.
    package let authenticators: [CustomAuthenticator]
    /// Whose calls it may make besides ours.
    package let vendors: Set<Vendor>
    /// Whether this is the operator's built-in client.
    package let isOperator: Bool
    /// Whether it is somebody else's than the operator's, so that what it says of users and devices counts for it alone.
    package let isThirdParty: Bool
    /// When the client was created.
    package let createdAt: Timestamp
    /// The previous secret, which is still accepted for a while; nil for none.
    package let earlierSecret: EarlierSecret?
    /// Since when the client is disabled; nil if it is not.
    package let disabledAt: Timestamp?

    /// A client of these parts.
    package init(
        id: ClientID, name: ClientName, secretHash: SecretHash?, rights: Set<Right>, callbackURIs: [CallbackURI],
        returnURIs: [ReturnURI] = [], noticeURI: CallbackURI? = nil, callbackUsername: String? = nil,
        waivesEnrollmentApproval: Bool,
        coolingOff: Seconds = standardCoolingOff, pinPolicy: PINPolicy = .standard,
        deviceLimit: DeviceLimit? = nil, authenticators: [CustomAuthenticator] = [], vendors: Set<Vendor> = [],
        isOperator: Bool, isThirdParty: Bool = false, createdAt: Timestamp, earlierSecret: EarlierSecret? = nil,
        disabledAt: Timestamp? = nil
    ) {
        self.id = id
        self.name = name
        self.secretHash = secretHash
        self.rights = rights
        self.callbackURIs = callbackURIs
        self.returnURIs = returnURIs
        self.noticeURI = noticeURI
        self.callbackUsername = callbackUsername
        self.waivesEnrollmentApproval = waivesEnrollmentApproval
        self.coolingOff = coolingOff
        self.pinPolicy = pinPolicy
        self.deviceLimit = deviceLimit
        self.authenticators = authenticators
        self.vendors = vendors
        self.isOperator = isOperator
        self.isThirdParty = isThirdParty
        self.createdAt = createdAt
        self.earlierSecret = earlierSecret
        self.disabledAt = disabledAt
    }
}

/// A client's previous secret, which is still accepted for a while.
package struct EarlierSecret: Hashable, Sendable {
    /// The hash of the secret.
    package let hash: SecretHash
    /// When the secret stops working.
    package let until: Timestamp

    /// A secret that is accepted until a time.
    package init(hash: SecretHash, until: Timestamp) {
        self.hash = hash
        self.until = until
    }
}

/// The token for setting up a deployment: its holder acts as the operator, with the built-in client.
package struct BootstrapToken: Sendable {
    /// How long a token works.
    package static let lifetime = Seconds.days(1)

    /// The hash of the token.
    package let hash: SecretHash
    /// When it stops working.
    package let expiresAt: Timestamp

    /// A token of these parts.
    package init(hash: SecretHash, expiresAt: Timestamp) {
        self.hash = hash
        self.expiresAt = expiresAt
    }
}
