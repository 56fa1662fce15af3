import Crypto
package import CountersignWire
package import JOSE
package import Logging

/// A source of the current time.
package protocol TimeSource: Sendable {
    /// The current time.
    var now: Timestamp { get }
}

/// A cryptographically secure generator of random bytes.
package protocol RandomSource: Sendable {
    /// This many random bytes.
    func bytes(_ count: Int) -> [UInt8]
}

extension RandomSource {
    /// A random number below a bound, all equally likely: values that would favour small numbers are thrown away.
    func number(below bound: UInt32) -> UInt32 {
        let limit = UInt32.max - UInt32.max % bound
        while true {
            let value = bytes(4).reduce(0) { $0 << 8 | UInt32($1) }
            if value < limit { return value % bound }
        }
    }

    func id<Kind>(at time: Timestamp) -> ID<Kind> {
        ID(at: time, random: bytes(10))
    }
}

/// A source of new RSA keys for the issuer.
package protocol RSAKeySource: Sendable {
    /// A new key; to make it takes long.
    ///
    /// - Throws: an error if none can be made.
    func makeKey() throws -> RSAPrivateKey
}

/// Makes RSA keys when they are needed.
package struct NewRSAKeys: RSAKeySource {
    /// The source.
    package init() {}

    package func makeKey() throws -> RSAPrivateKey { try RSAPrivateKey() }
}

/// The issuer's own keys, which change while a server runs.
package protocol IssuerKeySource: Sendable {
    /// The keys that were read last.
    ///
    /// - Throws: ``StoreError/unavailable`` when the keys could not be read for a minute. Another server may have
    ///   replaced them meanwhile, so this one must not sign, open or seal anything.
    func current() throws(StoreError) -> IssuerKeys
}

/// The operator's limits, for each client and for all together.
package struct ClientLimits: Hashable, Sendable {
    /// How many challenges by a code a client may make in a minute: they have no user yet, so no user's limit counts
    /// them.
    package var codeAsks = 600
    /// How many codes a client may send by text message in an hour, to all numbers together.
    package var texts = 1000
    /// How many mails with codes the pages of a client may send in an hour, to all addresses together.
    package var mails = 10_000
    /// When sign-ins from unknown browsers need a proof of work.
    package var work = WorkLimit.after(WorkLimit.usual)

    /// The default limits.
    package init() {}
}

/// The external dependencies of an operation, passed to it explicitly.
///
/// It is a class because it is half a kilobyte, which every operation and every wait would copy.
package final class Ports: Sendable {
    /// The deployment's public base URL.
    package let issuer: Issuer
    /// The base URL at which clients with certificates call, where it is not the issuer; nil where it is.
    ///
    /// Spec: RFC 8705 §5.
    package let certificateURL: Issuer?
    /// The database.
    package let store: any Store
    /// Notifies waiting tasks of changes.
    package let changes: any ChangeNotifier
    /// The current time.
    package let time: any TimeSource
    /// The monotonic clock that times pauses and measures durations; nobody can set it.
    package let clock: any Clock<Duration>
    /// Random bytes.
    package let random: any RandomSource
    /// New RSA keys.
    package let rsaKeys: any RSAKeySource
    /// Hashes values that are only compared and that could be guessed from a plain hash.
    package let hasher: KeyedHasher
    /// The issuer's own keys.
    package let keys: any IssuerKeySource
    /// The transports for messages to people.
    package let transports: Transports
    /// The operator's limits.
    package let limits: ClientLimits
    /// Calls the hooks of custom authenticators.
    package let hooks: any AuthenticatorHooks
    /// Tells where network addresses are thought to be.
    package let places: any Places
    /// Fetches the keys that clients publish.
    package let clientKeys: any ClientKeys
    /// Asks the providers of captchas.
    package let captchas: any Captchas
    /// The log for faults and refusals.
    package let logger: Logger
    /// The challenges that were sealed last.
    let sealedChallenges = SealedChallenges()
    /// The challenges that were signed last for devices with JWKs, by what was signed and by which key: RSA takes a
    /// millisecond, and such devices ask again and again.
    let signedChallenges = BoundedMap<SHA256.Digest, String>(limit: 2048)
    /// The nonces of the reads that devices have made.
    let readNonces = ReadNonces()
    /// The names of the proofs that came with access tokens; a client's programs make more calls than a device.
    let seenProofs = ReadNonces(most: 262_144)
    /// The keys of the devices that have called.
    let knownDevices = BoundedMap<EnrollmentID, KnownDevice>(limit: 32_768)
    /// The credentials with which clients were authenticated last.
    let knownCredentials = BoundedMap<ClientID, ClientCredential>(limit: 4096)
    /// The keys that clients publish, as they were fetched last.
    let publishedKeys = BoundedMap<PublishedKeys.Source, PublishedKeys>(limit: 4096)
    /// The access tokens whose signatures were verified last, by their hashes: about half a kilobyte each.
    let verifiedTokens = BoundedMap<SHA256.Digest, AccessClaims>(limit: 16_384)
    /// How often tokens were refreshed, and asked about.
    package let tokenCounts = TokenCounts()
    /// How often pages have refused to sign somebody in.
    package let refusedSignIns = RefusedSignIns()
    /// What came with the latest sign-in at each client.
    let latestValues = BoundedMap<ClientID, ConstantValues.Latest>(limit: 4096)
    /// When devices have polled for their tokens.
    let devicePolls = DevicePolls()
    /// What the log was told of the proof of work.
    let workLog = WorkLog()

    /// Dependencies of these parts.
    package init(
        issuer: Issuer, store: any Store, changes: any ChangeNotifier, time: any TimeSource,
        clock: any Clock<Duration>, random: any RandomSource,
        hasher: KeyedHasher, keys: any IssuerKeySource, transports: Transports = Transports(),
        limits: ClientLimits = ClientLimits(), hooks: any AuthenticatorHooks, places: any Places = NoPlaces(),
        clientKeys: any ClientKeys = NoClientKeys(), captchas: any Captchas = NoCaptchas(),
        rsaKeys: any RSAKeySource = NewRSAKeys(), certificateURL: Issuer? = nil, logger: Logger
    ) {
        self.issuer = issuer
        self.certificateURL = certificateURL
        self.store = store
        self.changes = changes
        self.time = time
        self.clock = clock
        self.random = random
        self.rsaKeys = rsaKeys
        self.hasher = hasher
        self.keys = keys
        self.transports = transports
        self.limits = limits
        self.hooks = hooks
        self.places = places
        self.clientKeys = clientKeys
        self.captchas = captchas
        self.logger = logger
    }
}
