import Foundation

/// From where a user started something, as one line: `Firefox on Windows, 203.0.113.7, Berlin, Germany`.
///
/// Rendered by the server, so that no relying party can put words of its own there.
package struct ContextLine: Hashable, Sendable {
    /// The address, as it was given.
    package let address: String?
    /// The browser's `User-Agent`.
    package let userAgent: String?
    /// Where the address is thought to be; nil where that is not known.
    package let place: Place?
    /// The line.
    package let line: DisplayLine
    /// The client by whose word it is; nil for what the server has seen.
    private let saidBy: ClientName?

    /// The line for a browser at an address; nil when the address is none.
    ///
    /// - Parameters:
    ///   - address: an IPv4 or IPv6 address.
    ///   - userAgent: the browser's `User-Agent`, of which only the product and system are named.
    package init?(address: String?, userAgent: String?) {
        var parts: [String] = []
        if let userAgent { parts.append(Self.browser(userAgent)) }
        if let address {
            guard let canonical = Self.canonical(address) else { return nil }
            parts.append(canonical)
        }
        guard !parts.isEmpty, let line = try? DisplayLine(parts.joined(separator: ", ")) else { return nil }
        self.address = address
        self.userAgent = userAgent
        self.line = line
        place = nil
        saidBy = nil
    }

    private init(_ other: ContextLine, at place: Place?, _ line: DisplayLine, saidBy: ClientName? = nil) {
        address = other.address
        userAgent = other.userAgent
        self.place = place
        self.line = line
        self.saidBy = saidBy
    }

    /// The same, with a place at the end of its line.
    ///
    /// - Parameters:
    ///   - place: the place of the address; nil for none.
    ///   - language: the language of the place's name; nil for English.
    package func placed(at place: Place?, in language: LanguageTag?) -> ContextLine {
        if place == nil, self.place == nil { return self }
        guard let plain = ContextLine(address: address, userAgent: userAgent) else { return self }
        let line = place.flatMap { try? DisplayLine("\(plain.line.text), \($0.text(in: language))") }
        let placed = line.map { ContextLine(self, at: place, $0) } ?? plain
        // A client's word is never shown as what we have seen.
        return saidBy.map { placed.said(by: $0) ?? self } ?? placed
    }

    /// The same, with the name of its place in a language; nil for English.
    package func worded(in language: LanguageTag?) -> ContextLine { placed(at: place, in: language) }

    /// The same, as what a client says and the server has not seen; nil if that cannot be shown.
    ///
    /// A client's name has no parentheses of ASCII. One with brackets of another kind is not repeated here, since it could
    /// seem to end the remark; it stands above the question in any case.
    package func said(by client: ClientName) -> ContextLine? {
        let brackets: Set<Unicode.GeneralCategory> = [.openPunctuation, .closePunctuation]
        let hasBrackets = client.text.unicodeScalars.contains { brackets.contains($0.properties.generalCategory) }
        let name = hasBrackets ? "the client" : client.text
        return (try? DisplayLine("\(line.text) (says \(name))")).map {
            ContextLine(self, at: place, $0, saidBy: client)
        }
    }

    /// The address in its one spelling, or nil.
    private static func canonical(_ address: String) -> String? {
        // C would read up to it.
        guard !address.utf8.contains(0) else { return nil }
        for family in [AF_INET, AF_INET6] {
            var binary = [UInt8](repeating: 0, count: 16)
            var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
            guard inet_pton(family, address, &binary) == 1,
                inet_ntop(family, &binary, &text, socklen_t(text.count)) != nil
            else { continue }
            return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
        return nil
    }

    /// Marks of browsers; those whose mark others carry too come last.
    private static let browsers = [
        ("Edg/", "Edge"), ("OPR/", "Opera"), ("SamsungBrowser/", "Samsung Internet"), ("FxiOS/", "Firefox"),
        ("Firefox/", "Firefox"), ("CriOS/", "Chrome"), ("Chrome/", "Chrome"), ("Safari/", "Safari"), ("curl/", "curl"),
    ]
    private static let systems = [
        ("Windows", "Windows"), ("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"), ("CrOS", "ChromeOS"),
        ("Mac OS X", "macOS"), ("Linux", "Linux"),
    ]

    private static func browser(_ userAgent: String) -> String {
        let browser = browsers.first { userAgent.contains($0.0) }?.1 ?? "Unknown browser"
        guard let system = systems.first(where: { userAgent.contains($0.0) })?.1 else { return browser }
        return "\(browser) on \(system)"
    }
}
