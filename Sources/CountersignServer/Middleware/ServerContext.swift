import CountersignCore
import CountersignWire
import Encodings
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// The server's data about a request, known before any handler sees the request.
struct ServerContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// Identifies the request in the log.
    private(set) var requestID: String
    /// The caller's address: the peer's, or the one that trusted proxies report.
    private(set) var caller: IPAddress?
    /// The certificate by which the caller has authenticated in TLS; nil for none.
    private(set) var certificate: ClientCertificate?
    /// Why a field of a trusted proxy cannot be parsed; usually nil.
    private(set) var fault: MalformedRequest?
    /// The languages that the caller reads, as the header `Accept-Language` has them; nil for none.
    var languages: String?
    /// Whether the connection comes from this machine.
    let isFromLoopback: Bool
    let channel: any NIOCore.Channel
    /// Holds the work that answers the request after a wait.
    let later = DeferredResponse()
    /// The request's place among those that are worked on.
    var place = WorkPlace(in: nil)

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        var generator = SystemRandomNumberGenerator()
        requestID = "req_" + withUnsafeBytes(of: generator.next() as UInt64) { Hex.encode($0) }
        channel = source.channel
        caller = IPAddress(channel.remoteAddress)
        isFromLoopback = caller?.isLoopback ?? Self.isUnixSocket(channel.remoteAddress)
    }

    /// Takes the caller's address, its certificate and the request id from the headers if the peer is a trusted proxy.
    mutating func identify(by headers: HTTPFields, behind proxies: TrustedProxies) {
        do throws(MalformedRequest) {
            certificate = try proxies.certificate(from: caller, headers)
        } catch {
            fault = error
        }
        guard let peer = caller, proxies.trusts(peer) else { return }
        if let id = headers[.requestID], Self.isRequestID(id) { requestID = id }
        do throws(MalformedRequest) {
            caller = try proxies.caller(from: peer, headers)
        } catch {
            fault = error
        }
    }

    /// Whether a text can be used as an id in the log and in a header.
    private static func isRequestID(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isLetterOrDigit || "-_.".utf8.contains($0) }
    }

    /// The caller's network: an IPv4 address, or the half of an IPv6 address that a caller cannot choose.
    var network: [UInt8]? { caller?.network }

    private static func isUnixSocket(_ address: SocketAddress?) -> Bool {
        if case .unixDomainSocket = address { true } else { false }
    }
}
