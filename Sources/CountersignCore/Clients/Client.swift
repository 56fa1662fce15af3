package import CountersignWire

/// How many devices of one user may be enrolled through a client at a time.
package typealias DeviceLimit = EnrollmentPolicies.DeviceLimit

/// A relying party.
package struct Client: Hashable, Sendable {
    /// How long a new device waits that no other one approves, where the client says nothing.
    package static let standardCoolingOff = Seconds.days(1)

    /// Its id.
    package let id: ClientID
    /// What users know it by.
    package let name: ClientName
    /// The hash of its secret; nil for the built-in client of the operator, which has none.
    package let secretHash: SecretHash?
    /// What it may do.
    package let rights: Set<Right>
    /// Where it may be called back.
    package let callbackURIs: [CallbackURI]
    /// Where devices may return to that have opened a link.
    package let returnURIs: [ReturnURI]
    /// Where it is told of its users' devices; nil for nowhere.
    package let noticeURI: CallbackURI?
    /// The name that its receiver asks for, besides the signature; nil when it asks for none.
    package let callbackUsername: String?
    /// Whether its tickets enroll a further device without the approval of an earlier one: the operator's waiver.
    package let waivesEnrollmentApproval: Bool
    /// How long a further device waits that no earlier one approves.
    package let coolingOff: Seconds
    /// The rules for the PINs of devices that enrolled through it.
    package let pinPolicy: PINPolicy
    /// How many devices of a user may be enrolled through it; nil for as many as there are.
    package let deviceLimit: DeviceLimit?
    /// What it judges itself on the devices that enrolled through it.
    package let authenticators: [CustomAuthenticator]
    /// Whether it is the built-in client of the operator.
    package let isOperator: Bool
    /// When it was made.
    package let createdAt: Timestamp
    /// The secret of before, which lets it in for a while.
    package let earlierSecret: EarlierSecret?
    /// Since when it is let in nowhere; nil for one that is.
    package let disabledAt: Timestamp?

    /// A client of these parts.
    package init(
        id: ClientID, name: ClientName, secretHash: SecretHash?, rights: Set<Right>, callbackURIs: [CallbackURI],
        returnURIs: [ReturnURI] = [], noticeURI: CallbackURI? = nil, callbackUsername: String? = nil,
        waivesEnrollmentApproval: Bool,
        coolingOff: Seconds = standardCoolingOff, pinPolicy: PINPolicy = .standard,
        deviceLimit: DeviceLimit? = nil, authenticators: [CustomAuthenticator] = [], isOperator: Bool,
        createdAt: Timestamp, earlierSecret: EarlierSecret? = nil, disabledAt: Timestamp? = nil
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
        self.isOperator = isOperator
        self.createdAt = createdAt
        self.earlierSecret = earlierSecret
        self.disabledAt = disabledAt
    }
}

/// A client's secret that was renewed, and still lets it in.
package struct EarlierSecret: Hashable, Sendable {
    /// Its hash.
    package let hash: SecretHash
    /// Until when.
    package let until: Timestamp

    /// A secret that is good until a time.
    package init(hash: SecretHash, until: Timestamp) {
        self.hash = hash
        self.until = until
    }
}

/// The token of the first hours: it acts as operator and as the built-in client.
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
