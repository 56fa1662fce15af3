import Foundation

/// A local address and a port to listen on.
package struct ListenAddress: Hashable, Sendable {
    package let host: String
    package let port: Int

    /// Parses `ADDRESS:PORT`; an IPv6 address is in brackets.
    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]), port > 0 else {
            return nil
        }
        var host = String(text[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = String(host.dropFirst().dropLast())
            guard host.contains(":") else { return nil }
        } else if host.contains(":") {
            return nil
        }
        guard Self.isHost(host) else { return nil }
        self.host = host
        self.port = Int(port)
    }

    /// Whether a text is an IP address or a host name.
    package static func isHost(_ text: String) -> Bool {
        if IPAddress(text) != nil { return true }
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        // If the last label begins with a digit, the text is an IPv4 address, and it was not a valid one.
        guard labels.last?.first?.isLetter == true else { return false }
        return labels.allSatisfy { label in !label.isEmpty && label.utf8.allSatisfy(isPartOfName) }
    }

    private static func isPartOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}

extension ListenAddress: CustomStringConvertible {
    /// The notation that the initializer parses.
    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
