import Crypto
public import CountersignWire
public import Logging

/// A source of the current time.
public protocol TimeSource: Sendable {
    /// The current time.
    var now: Timestamp { get }
}

/// A cryptographically secure generator of random bytes.
public protocol RandomSource: Sendable {
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

/// The issuer's own keys, which change while a server runs.
public protocol IssuerKeySource: Sendable {
    /// The keys that were read last.
    ///
    /// - Throws: ``StoreError/unavailable`` when the keys could not be read for a minute. Another server may have
    ///   replaced them meanwhile, so this one must not sign, open or seal anything.
    func current() throws(StoreError) -> IssuerKeys
}

/// The operator's limits for each client.
public struct ClientLimits: Hashable, Sendable {
    /// How many challenges by a code a client may make in a minute: they have no user yet, so no user's limit counts
    /// them.
    public var codeAsks = 600
    /// How many codes a client may send by text message in an hour, to all numbers together.
    public var texts = 1000

    /// The default limits.
    public init() {}
}

/// The external dependencies of an operation, passed to it explicitly.
///
/// It is a class because it is half a kilobyte, which every operation and every wait would copy.
public final class Ports: Sendable {
    /// The deployment's public base URL.
    public let issuer: Issuer
    /// The database.
    public let store: any Store
    /// Notifies waiting tasks of changes.
    public let changes: any ChangeNotifier
    /// The current time.
    public let time: any TimeSource
    /// The monotonic clock that times pauses and measures durations; nobody can set it.
    public let clock: any Clock<Duration>
    /// Random bytes.
    public let random: any RandomSource
    /// Hashes values that are only compared and that could be guessed from a plain hash.
    public let hasher: KeyedHasher
    /// The issuer's own keys.
    public let keys: any IssuerKeySource
    /// The transports for messages to people.
    public let transports: Transports
    /// The operator's limits for each client.
    public let limits: ClientLimits
    /// Calls the hooks of custom authenticators.
    public let hooks: any AuthenticatorHooks
    /// The log for faults and refusals.
    public let logger: Logger

    /// Dependencies of these parts.
    public init(
        issuer: Issuer, store: any Store, changes: any ChangeNotifier, time: any TimeSource,
        clock: any Clock<Duration>, random: any RandomSource,
        hasher: KeyedHasher, keys: any IssuerKeySource, transports: Transports = Transports(),
        limits: ClientLimits = ClientLimits(), hooks: any AuthenticatorHooks, logger: Logger
    ) {
        self.issuer = issuer
        self.store = store
        self.changes = changes
        self.time = time
        self.clock = clock
        self.random = random
        self.hasher = hasher
        self.keys = keys
        self.transports = transports
        self.limits = limits
        self.hooks = hooks
        self.logger = logger
    }
}
