import CountersignCore
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

/// From where the certificates come by which clients authenticate in TLS.
///
/// Spec: docs/decisions/0094-client-certificates.md.
package enum CertificateSource: String, CaseIterable, Sendable {
    /// From nowhere: whatever a request says of a certificate is ignored.
    case off = "none"
    /// From the trusted proxies, which hand on only those that they have verified.
    case proxy
    /// From the trusted proxies, which hand on whatever a client has shown.
    case unverified = "proxy-unverified"
    /// From the server's own TLS, which asks for them and does not verify them.
    case tls
}

/// The trusted proxies: their reports about a caller's address are used, and all others are ignored.
package struct TrustedProxies: Sendable {
    private let networks: [Network]
    private let header: ProxyHeader
    /// From where certificates of clients come.
    let certificates: CertificateSource

    /// Creates a list of trusted networks whose proxies use one header field.
    ///
    /// Only this field is read, because a proxy forwards a field that it does not know as the caller wrote it.
    package init(
        networks: [Network] = [], header: ProxyHeader = .xForwardedFor, certificates: CertificateSource = .off
    ) {
        self.networks = networks
        self.header = header
        self.certificates = certificates
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

    /// The certificate by which the caller has authenticated in TLS; nil for none.
    ///
    /// A field from anybody else is ignored. With TLS of our own the connection has written it: ``CertificateField``.
    ///
    /// - Parameters:
    ///   - peer: the address of the connection's peer.
    ///   - headers: the header fields of the request.
    /// - Throws: ``MalformedRequest`` if the field cannot be parsed, or stands more than once: one of two could be the
    ///   caller's own.
    func certificate(from peer: IPAddress?, _ headers: HTTPFields) throws(MalformedRequest) -> ClientCertificate? {
        switch certificates {
        case .off: return nil
        case .proxy, .unverified:
            // check: ClientCertificateFieldTests.forged
            guard peer.map(trusts) == true else { return nil }
        case .tls: break
        }
        let fields = headers[values: .clientCertificate]
        guard let field = fields.first else { return nil }
        let malformed = MalformedRequest(description: "\(ClientCertificateField.name) is malformed")
        // check: ClientCertificateFieldTests.malformed
        guard fields.count == 1 else { throw malformed }
        guard let bytes = ClientCertificateField.certificate(in: field) else { throw malformed }
        return ClientCertificate(bytes, isVerified: certificates == .proxy)
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
    /// The certificate of a proxy's client.
    ///
    /// Spec: RFC 9440 §2.2.
    static let clientCertificate = known(ClientCertificateField.name)
}
