import Crypto
public import CountersignWire
public import Logging

/// Where the present comes from.
public protocol TimeSource: Sendable {
    /// The present.
    var now: Timestamp { get }
}

/// Where chance comes from: a cryptographically secure generator.
public protocol RandomSource: Sendable {
    /// This many random bytes.
    func bytes(_ count: Int) -> [UInt8]
}

extension RandomSource {
    /// A number below a bound, each equally likely: draws that would favour small ones are thrown away.
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

/// Where the issuer's own keys come from, which change under a server that runs.
public protocol IssuerKeySource: Sendable {
    /// The keys as they were read last.
    ///
    /// - Throws: ``StoreError/unavailable`` when they could not be read for a minute: another server may have replaced
    ///   them, so nothing is signed, opened or sealed.
    func current() throws(StoreError) -> IssuerKeys
}

/// How much each client may bring about, as the operator has set it.
public struct ClientLimits: Hashable, Sendable {
    /// How many questions by a code it may ask in a minute: those are nobody's, and no user's limit counts them.
    public var codeAsks = 600
    /// How many codes it may have sent by text message in an hour, to whatever numbers.
    public var texts = 1000

    /// The usual limits.
    public init() {}
}

/// Everything an operation needs from outside, passed explicitly.
///
/// A class, because it is half a kilobyte that every operation and every wait would copy.
public final class Ports: Sendable {
    /// The deployment's public base URL.
    public let issuer: Issuer
    /// What is remembered.
    public let store: any Store
    /// Who is told.
    public let changes: any ChangeNotifier
    /// The present.
    public let time: any TimeSource
    /// By what pauses last, and what took how long; nobody sets it.
    public let clock: any Clock<Duration>
    /// Chance.
    public let random: any RandomSource
    /// Hashes what is only compared and could be guessed.
    public let hasher: KeyedHasher
    /// The issuer's own keys.
    public let keys: any IssuerKeySource
    /// By what messages to people leave.
    public let transports: Transports
    /// How much each client may bring about.
    public let limits: ClientLimits
    /// Who asks the hooks of custom authenticators.
    public let hooks: any AuthenticatorHooks
    /// Where faults and refusals are told of.
    public let logger: Logger

    /// Ports of these parts.
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
