import CountersignWire
import HTTPTypes
import Hummingbird

/// The header field in which proxies report the address of the caller.
package enum ProxyHeader: String, CaseIterable, Sendable {
    /// `X-Forwarded-For`, which most proxies use.
    case xForwardedFor = "x-forwarded-for"
    /// `Forwarded`, which is a standard.
    ///
    /// Spec: RFC 7239 §4.
    case forwarded
}

/// The trusted proxies: their reports about a caller's address are used, and all others are ignored.
package struct TrustedProxies: Sendable {
    private let networks: [Network]
    private let header: ProxyHeader

    /// Creates a list of trusted networks whose proxies use one header field.
    ///
    /// Only this field is read, because a proxy forwards a field that it does not know as the caller wrote it.
    package init(networks: [Network] = [], header: ProxyHeader = .xForwardedFor) {
        self.networks = networks
        self.header = header
    }

    /// Whether a trusted proxy has this address.
    func trusts(_ address: IPAddress) -> Bool { networks.contains { $0.contains(address) } }

    /// The address of the caller.
    ///
    /// Each proxy appends the address of its peer, so the list is read from its end while the entries come from trusted
    /// proxies. The first address that is not a trusted proxy's is the caller's. The caller wrote everything before it.
    ///
    /// - Parameters:
    ///   - peer: the address of the connection's peer.
    ///   - headers: the header fields of the request.
    /// - Throws: ``MalformedRequest`` if the field from a trusted proxy cannot be parsed. To use the proxy's address
    ///   instead would let callers hide.
    func caller(from peer: IPAddress?, _ headers: HTTPFields) throws(MalformedRequest) -> IPAddress? {
        guard let peer, !networks.isEmpty, trusts(peer) else { return peer }
        var caller = peer
        for node in try nodes(headers).reversed() {
            // The proxy hides its peer or does not know it, so the proxy's own address is the last known one.
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
            // Each field is parsed alone, so a quotation mark in one cannot reach into the next.
            for value in headers[values: .forwarded] { nodes += try ForwardedField.nodes(in: value) }
            return nodes
        }
    }

    /// The address in a node; nil for a node that hides it.
    ///
    /// By hand, since a regular expression was an eighth of what a request cost. Spec: RFC 7239 §6.
    private func address(of node: String) throws(MalformedRequest) -> IPAddress? {
        if let (name, isBracketed) = Self.name(in: node) {
            if isBracketed || name.utf8.allSatisfy({ $0 == UInt8(ascii: ".") || $0.isDigit }) {
                if let address = IPAddress(name), isBracketed == name.contains(":") { return address }
                throw malformed
            }
            if name.utf8.count == 7 && name.lowercased() == "unknown" || Self.isObfuscated(name) { return nil }
        }
        // The older field has no specification; it usually holds IPv6 addresses without brackets.
        guard header == .xForwardedFor, let address = IPAddress(node) else { throw malformed }
        return address
    }

    private var malformed: MalformedRequest { MalformedRequest(description: "\(header.fieldName) is malformed") }

    /// The name of a node, without brackets and port; nil if it has none, or what follows is no port.
    private static func name(in node: String) -> (Substring, isBracketed: Bool)? {
        let isBracketed = node.hasPrefix("[")
        guard let end = isBracketed ? node.firstIndex(of: "]") : node.firstIndex(of: ":") ?? node.endIndex else {
            return nil
        }
        let name = isBracketed ? node[..<end].dropFirst() : node[..<end]
        let rest = isBracketed ? node[end...].dropFirst() : node[end...]
        guard !name.isEmpty, rest.isEmpty || rest.hasPrefix(":") && isPort(rest.dropFirst()) else { return nil }
        return (name, isBracketed)
    }

    private static func isPort(_ text: Substring) -> Bool {
        (1...5).contains(text.utf8.count) && text.utf8.allSatisfy(\.isDigit) || isObfuscated(text)
    }

    private static func isObfuscated(_ text: Substring) -> Bool {
        text.utf8.first == UInt8(ascii: "_") && text.utf8.count > 1
            && text.utf8.dropFirst().allSatisfy { $0.isLetterOrDigit || "._-".utf8.contains($0) }
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
