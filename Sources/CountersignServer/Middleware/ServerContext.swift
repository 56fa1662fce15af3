import CountersignWire
import Encodings
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// What the server knows of a request before anybody looked at it.
struct ServerContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// Finds the request in the log.
    private(set) var requestID: String
    /// Whom the request is from, as far as it can be believed.
    private(set) var caller: IPAddress?
    /// What a trusted proxy passed on and cannot be read; nil as a rule.
    private(set) var fault: MalformedRequest?
    /// Whether the connection comes from this machine.
    let isFromLoopback: Bool
    /// The caller's connection.
    let channel: any Channel
    /// Takes the rest of the answer, when that is known only after a wait.
    let later = DeferredResponse()

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        var generator = SystemRandomNumberGenerator()
        requestID = "req_" + withUnsafeBytes(of: generator.next() as UInt64) { Hex.encode($0) }
        channel = source.channel
        caller = IPAddress(channel.remoteAddress)
        isFromLoopback = caller?.isLoopback ?? Self.isUnixSocket(channel.remoteAddress)
    }

    /// Believes what a trusted proxy says of the request: whom it is from, and by what id to find it.
    mutating func identify(by headers: HTTPFields, behind proxies: TrustedProxies) {
        guard let peer = caller, proxies.trusts(peer) else { return }
        if let id = headers[.requestID], Self.isRequestID(id) { requestID = id }
        do throws(MalformedRequest) {
            caller = try proxies.caller(from: peer, headers)
        } catch {
            fault = error
        }
    }

    /// Whether a text can stand in a log and a header as an id.
    private static func isRequestID(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isLetterOrDigit || "-_.".utf8.contains($0) }
    }

    /// The network the caller comes from: an IPv4 address, or the half of an IPv6 address that a caller cannot choose.
    var network: [UInt8]? { caller?.network }

    private static func isUnixSocket(_ address: SocketAddress?) -> Bool {
        if case .unixDomainSocket = address { true } else { false }
    }
}
