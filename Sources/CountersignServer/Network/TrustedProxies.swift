import HTTPTypes
import Hummingbird

/// The header in which proxies say whom a request is from.
public enum ProxyHeader: String, CaseIterable, Sendable {
    /// The usual one.
    case xForwardedFor = "x-forwarded-for"
    /// The standard one.
    ///
    /// Spec: RFC 7239 §4.
    case forwarded
}

/// The proxies that are believed when they say whom a request is from; nobody else is.
public struct TrustedProxies: Sendable {
    private let networks: [Network]
    private let header: ProxyHeader

    /// Proxies of these networks, which use one header.
    ///
    /// Only one header is read: what a proxy does not know it passes on as the caller sent it.
    public init(networks: [Network] = [], header: ProxyHeader = .xForwardedFor) {
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
    func caller(from peer: IPAddress?, _ headers: HTTPFields) -> IPAddress? {
        guard let peer, !networks.isEmpty, trusts(peer) else { return peer }
        var caller = peer
        for hop in hops(headers).reversed() {
            // A proxy that hides its caller, or does not know it, is the last that is known.
            guard let hop else { return caller }
            caller = hop
            guard trusts(hop) else { return hop }
        }
        return caller
    }

    private func hops(_ headers: HTTPFields) -> [IPAddress?] {
        switch header {
        case .xForwardedFor:
            (headers[.xForwardedFor] ?? "").split(separator: ",", omittingEmptySubsequences: false)
                .map { Self.address(Self.trimmed($0)) }
        case .forwarded:
            Self.split(headers[.forwarded] ?? "", at: ",").map { element in
                let pairs = Self.split(String(element), at: ";").map(Self.trimmed)
                let named = pairs.filter { $0.lowercased().hasPrefix("for=") }
                guard named.count == 1, let pair = named.first else { return nil }
                return Self.address(Self.unquoted(pair.dropFirst("for=".count)))
            }
        }
    }

    /// An address with or without a port; an IPv6 address with one stands in brackets.
    private static func address(_ text: Substring) -> IPAddress? {
        if text.first == "[" {
            guard let closing = text.firstIndex(of: "]") else { return nil }
            return IPAddress(text[text.index(after: text.startIndex)..<closing])
        }
        if let address = IPAddress(text) { return address }
        return text.firstIndex(of: ":").flatMap { IPAddress(text[..<$0]) }
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while text.first == " " || text.first == "\t" { text.removeFirst() }
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return text
    }

    private static func unquoted(_ text: Substring) -> Substring {
        text.count >= 2 && text.first == "\"" && text.last == "\"" ? text.dropFirst().dropLast() : text
    }

    /// Splits a list, but not inside quotes.
    private static func split(_ text: String, at separator: Character) -> [Substring] {
        var parts: [Substring] = []
        var start = text.startIndex
        var isQuoted = false
        for index in text.indices {
            if text[index] == "\"" { isQuoted.toggle() }
            guard text[index] == separator, !isQuoted else { continue }
            parts.append(text[start..<index])
            start = text.index(after: index)
        }
        parts.append(text[start...])
        return parts
    }
}

extension HTTPField.Name {
    static let xForwardedFor = known("X-Forwarded-For")
    static let forwarded = known("Forwarded")
}
