import HTTPTypes
import Hummingbird
import RegexBuilder

/// The header in which proxies say whom a request is from.
package enum ProxyHeader: String, CaseIterable, Sendable {
    /// The usual one.
    case xForwardedFor = "x-forwarded-for"
    /// The standard one.
    ///
    /// Spec: RFC 7239 §4.
    case forwarded
}

/// The proxies that are believed when they say whom a request is from; nobody else is.
package struct TrustedProxies: Sendable {
    private let networks: [Network]
    private let header: ProxyHeader

    /// Proxies of these networks, which use one header.
    ///
    /// Only one header is read: what a proxy does not know it passes on as the caller sent it.
    package init(networks: [Network] = [], header: ProxyHeader = .xForwardedFor) {
        self.networks = networks
        self.header = header
    }

    /// Whether an address is one of theirs.
    func trusts(_ address: IPAddress) -> Bool { networks.contains { $0.contains(address) } }

    /// Whom a request is from.
    ///
    /// Each proxy appends whom it was called by, so the list is believed from its end, as long as a proxy of ours wrote
    /// it: the first address that is no proxy's is the caller. What stands before that, the caller wrote.
    ///
    /// - Parameters:
    ///   - peer: the other end of the connection.
    ///   - headers: the fields of the request.
    /// - Throws: ``MalformedRequest`` when what a proxy of ours passed on cannot be read: to take the proxy for the caller
    ///   then would let callers hide.
    func caller(from peer: IPAddress?, _ headers: HTTPFields) throws(MalformedRequest) -> IPAddress? {
        guard let peer, !networks.isEmpty, trusts(peer) else { return peer }
        var caller = peer
        for node in try nodes(headers).reversed() {
            // A proxy that hides its caller, or does not know it, is the last that is known.
            guard let node, let hop = try address(of: node) else { return caller }
            caller = hop
            guard trusts(hop) else { return hop }
        }
        return caller
    }

    private func nodes(_ headers: HTTPFields) throws(MalformedRequest) -> [String?] {
        switch header {
        case .xForwardedFor:
            return headers[values: .xForwardedFor].flatMap {
                $0.split(separator: ",", omittingEmptySubsequences: false)
            }
            .map(Self.trimmed).map { $0.isEmpty ? nil : String($0) }
        case .forwarded:
            var nodes: [String?] = []
            // Each field alone: what one opens, another does not close.
            for value in headers[values: .forwarded] { nodes += try ForwardedField.nodes(in: value) }
            return nodes
        }
    }

    /// The address of a node; nil for one that hides it.
    ///
    /// Spec: RFC 7239 §6.
    private func address(of node: String) throws(MalformedRequest) -> IPAddress? {
        let port = /(:([0-9]{1,5}|_[A-Za-z0-9._\-]+))?/
        if let named = node.wholeMatch(
            of: Regex {
                /([0-9.]+|\[[0-9A-Fa-f:.]+\])/; port
            })?.output.1
        {
            let address = named.hasPrefix("[") ? IPAddress(named.dropFirst().dropLast()) : IPAddress(named)
            if let address, named.hasPrefix("[") == named.contains(":") { return address }
        } else if node.wholeMatch(
            of: Regex {
                /((?i:unknown)|_[A-Za-z0-9._\-]+)/; port
            }) != nil
        {
            return nil
        } else if header == .xForwardedFor, let address = IPAddress(node) {
            // Nothing says how the older field is written; without brackets is usual.
            return address
        }
        throw MalformedRequest(description: "\(header.fieldName) is malformed")
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while text.first == " " || text.first == "\t" { text.removeFirst() }
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return text
    }
}

extension ProxyHeader {
    fileprivate var fieldName: String { self == .forwarded ? "Forwarded" : "X-Forwarded-For" }
}

extension HTTPField.Name {
    static let xForwardedFor = known("X-Forwarded-For")
    static let forwarded = known("Forwarded")
}
