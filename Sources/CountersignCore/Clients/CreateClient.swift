public import CountersignWire
public import Encodings

/// Makes a relying party.
///
/// For operators.
public enum CreateClient {
    /// What is asked for.
    public struct Request: Sendable {
        /// What users know the client by.
        public let name: ClientName
        /// What it may do.
        public let rights: Set<Right>
        /// Where it may be called back.
        public let callbackURIs: [CallbackURI]
        /// Where devices may return to that have opened a link.
        public let returnURIs: [ReturnURI]
        /// Where it is told of its users' devices; nil for nowhere.
        public let noticeURI: CallbackURI?
        /// What its receiver asks for, besides the signature.
        public let basic: BasicCredentials?
        /// Whether its tickets enroll a further device without the approval of an earlier one.
        public let waivesEnrollmentApproval: Bool
        /// How long a further device waits that no earlier one approves, in seconds.
        public let coolingOff: Int64
        /// The rules for the PINs of devices that enroll through it.
        public let pinPolicy: PINPolicy
        /// How many devices of a user may enroll through it; nil for as many as there are.
        public let deviceLimit: DeviceLimit?
        /// What it judges itself on the devices that enroll through it.
        public let authenticators: [CustomAuthenticator]

        /// A request of these parts.
        public init(
            name: ClientName, rights: Set<Right>, callbackURIs: [CallbackURI],
            returnURIs: [ReturnURI] = [], noticeURI: CallbackURI? = nil,
            basic: BasicCredentials? = nil,
            waivesEnrollmentApproval: Bool, coolingOff: Int64 = AwaitedApproval.standardCoolingOff,
            pinPolicy: PINPolicy = .standard, deviceLimit: DeviceLimit? = nil,
            authenticators: [CustomAuthenticator] = []
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
        }
    }

    /// The client and its secrets, which are shown this once.
    public struct Created: Sendable {
        /// The client.
        public let client: Client
        /// Its secret.
        public let secret: Secret<String>
        /// The secret that signs callbacks to it.
        ///
        /// Spec: Standard Webhooks, *Signature scheme*.
        public let callbackSecret: Secret<String>
    }

    /// Makes the client.
    public static func create(
        _ request: Request, idempotency: IdempotencyKey?, ports: Ports,
        reply: @escaping @Sendable (Created) -> RecordedReply
    ) async throws -> Replayable<Created> {
        let now = ports.time.now
        let secret = newSecret(ports.random)
        let callbackSecret = newCallbackSecret(ports.random)
        let client = Client(
            id: ports.random.id(at: now), name: request.name, secretHash: SecretHash(of: secret),
            rights: request.rights, callbackURIs: request.callbackURIs, returnURIs: request.returnURIs,
            noticeURI: request.noticeURI,
            callbackUsername: request.basic?.username,
            waivesEnrollmentApproval: request.waivesEnrollmentApproval, coolingOff: request.coolingOff,
            pinPolicy: request.pinPolicy,
            deviceLimit: request.deviceLimit, authenticators: request.authenticators, isOperator: false,
            createdAt: now)
        return try await ports.commit(at: now) { work in
            try work.once(idempotency) {
                try work.clients.insert(client, callbackSecret: callbackSecret)
                if let basic = request.basic {
                    try work.clients.update(client.id, UpdateClient.Changes(basic: .set(basic)))
                }
                try work.raise(.clientCreated(client))
                let created = Created(client: client, secret: secret, callbackSecret: callbackSecret)
                return (created, reply(created))
            }
        }
    }

    /// A new secret.
    static func newSecret(_ random: any RandomSource) -> Secret<String> {
        Secret(Base64URL.encode(random.bytes(32)))
    }

    /// A new secret that signs callbacks.
    ///
    /// Spec: Standard Webhooks, *Signature scheme*.
    static func newCallbackSecret(_ random: any RandomSource) -> Secret<String> {
        Secret("whsec_" + Base64.encode(random.bytes(32)))
    }
}
