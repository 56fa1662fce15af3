package import CountersignWire
package import Encodings

/// Creates a client, that is, a relying party.
///
/// This operation is for operators.
package enum CreateClient {
    /// The settings of the new client.
    package struct Request: Sendable {
        /// The name that users see.
        package let name: ClientName
        /// The rights of the client.
        package let rights: Set<Right>
        /// The URIs to which its callbacks may be sent.
        package let callbackURIs: [CallbackURI]
        /// The URIs to which devices may return after they have opened a link.
        package let returnURIs: [ReturnURI]
        /// Where the client is notified of changes of its users' devices; nil for nowhere.
        package let noticeURI: CallbackURI?
        /// The credentials that its receiver asks for, in addition to the signature; nil for none.
        package let basic: BasicCredentials?
        /// Whether its tickets enroll a further device without the approval of an earlier one.
        package let waivesEnrollmentApproval: Bool
        /// How long a further device waits before it counts, if no earlier device approves it.
        package let coolingOff: Seconds
        /// The rules for the PINs of devices that enroll through it.
        package let pinPolicy: PINPolicy
        /// How many devices of one user may enroll through the client; nil for no limit.
        package let deviceLimit: DeviceLimit?
        /// The authenticators of the client's own, for the devices that enroll through it.
        package let authenticators: [CustomAuthenticator]
        /// Whose calls it may make besides ours.
        package let vendors: Set<Vendor>
        /// Whether it is a third party, which never changes.
        package let isThirdParty: Bool

        /// A request of these parts.
        package init(
            name: ClientName, rights: Set<Right>, callbackURIs: [CallbackURI],
            returnURIs: [ReturnURI] = [], noticeURI: CallbackURI? = nil,
            basic: BasicCredentials? = nil,
            waivesEnrollmentApproval: Bool, coolingOff: Seconds = Client.standardCoolingOff,
            pinPolicy: PINPolicy = .standard, deviceLimit: DeviceLimit? = nil,
            authenticators: [CustomAuthenticator] = [], vendors: Set<Vendor> = [], isThirdParty: Bool = false
        ) {
            self.name = name
            self.rights = rights
            self.callbackURIs = callbackURIs
            self.returnURIs = returnURIs
            self.noticeURI = noticeURI
            self.basic = basic
            self.waivesEnrollmentApproval = waivesEnrollmentApproval
            self.coolingOff = coolingOff
            self.pinPolicy = pinPolicy
            self.deviceLimit = deviceLimit
            self.authenticators = authenticators
            self.vendors = vendors
            self.isThirdParty = isThirdParty
        }
    }

    /// A new client with its secrets, which are shown only this once.
    package struct Created: Equatable, Sendable {
        /// The client.
        package let client: Client
        /// The client's secret.
        package let secret: Secret<String>
        /// The secret that signs callbacks to the client.
        ///
        /// Spec: Standard Webhooks, *Signature scheme*.
        package let callbackSecret: Secret<String>

        /// Compares the secrets in constant time.
        package static func == (one: Created, other: Created) -> Bool {
            one.client == other.client && one.secret.isSame(as: other.secret)
                && one.callbackSecret.isSame(as: other.callbackSecret)
        }
    }

    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The client was created.
        case created(Created)
    }

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - request: the settings.
    ///   - actor: who asks.
    ///   - idempotency: the key of the request; a repeat with the same key creates no second client. Nil for none.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func create(
        _ request: Request, by actor: Actor, idempotency: IdempotencyKey?, ports: Ports
    ) async throws -> Replayable<Outcome> {
        try await request.vendors.prepareKeys(by: actor, ports: ports)
        let now = ports.time.now
        let created = Created(
            request, id: ports.random.id(at: now), secret: newSecret(ports.random),
            callbackSecret: newCallbackSecret(ports.random), at: now)
        return try await ports.commit(at: now, as: actor) { work in
            try work.once(idempotency, request) {
                try work.clients.insert(created.client, callbackSecret: created.callbackSecret)
                if let basic = request.basic {
                    try work.clients.update(created.client.id, ClientChanges(basic: .set(basic)))
                }
                try work.raise(.clientCreated(created.client))
                return .created(created)
            }
        }
    }

    /// A new client secret: 32 random bytes in base64url.
    static func newSecret(_ random: any RandomSource) -> Secret<String> {
        Secret(Base64URL.encode(random.bytes(32)))
    }

    /// A new secret that signs callbacks: `whsec_` and 32 random bytes in base64.
    ///
    /// Spec: Standard Webhooks, *Signature scheme*.
    static func newCallbackSecret(_ random: any RandomSource) -> Secret<String> {
        Secret("whsec_" + Base64.encode(random.bytes(32)))
    }
}

extension CreateClient.Created {
    fileprivate init(
        _ request: CreateClient.Request, id: ClientID, secret: Secret<String>, callbackSecret: Secret<String>,
        at time: Timestamp
    ) {
        client = Client(
            id: id, name: request.name, secretHash: SecretHash(of: secret),
            rights: request.rights, callbackURIs: request.callbackURIs, returnURIs: request.returnURIs,
            noticeURI: request.noticeURI, callbackUsername: request.basic?.username,
            waivesEnrollmentApproval: request.waivesEnrollmentApproval, coolingOff: request.coolingOff,
            pinPolicy: request.pinPolicy, deviceLimit: request.deviceLimit, authenticators: request.authenticators,
            vendors: request.vendors, isOperator: false, isThirdParty: request.isThirdParty, createdAt: time)
        self.secret = secret
        self.callbackSecret = callbackSecret
    }
}

/// A repeat of the request gets the client as it was created, even if it was changed or deleted since.
extension CreateClient.Outcome: KeptOutcome {
    var kept: KeptForm? {
        guard case .created(let created) = self else { return nil }
        return KeptForm([
            "client": .string("\(created.client.id)"), "secret": .string(created.secret.reveal()),
            "callback_secret": .string(created.callbackSecret.reveal()),
            "created_at": .string("\(created.client.createdAt)"),
        ])
    }

    init?(kept: KeptForm, of request: CreateClient.Request) {
        guard let id = kept.read("client", { ClientID($0) }), let secret = kept.read("secret", { Secret($0) }),
            let callbackSecret = kept.read("callback_secret", { Secret($0) }),
            let time = kept.read("created_at", { Timestamp($0) })
        else { return nil }
        self = .created(.init(request, id: id, secret: secret, callbackSecret: callbackSecret, at: time))
    }
}
