import Encodings

/// The site that passkeys are for.
package struct PasskeyRelyingParty: Sendable {
    /// The host of the site, which passkeys are bound to.
    package let id: String
    /// The only origin that ceremonies may come from.
    package let origin: String
    /// What authenticators show.
    package let name: String

    /// The site at an origin, or nil when browsers have no passkeys there.
    ///
    /// It must be `https`, or `http` at `localhost`, with a host that is a name and no address, in lower case and in
    /// ASCII, as browsers write origins: `https://login.example.com`, with a port only if it is not the usual one.
    /// Spec: WebAuthn Level 3 §4, *Relying Party Identifier*.
    package init?(origin: String, name: String) {
        let parts = origin.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[1].isEmpty else { return nil }
        let isSecure = parts[0].hasSameBytes(as: "https:")
        let authority = parts[2].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let host = String(authority[0])
        let labels = host.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        // check: OptionsTests.otherOrigins
        guard labels.allSatisfy(Self.isLabel), labels.last?.first.map(Self.isDigit) == false,
            isSecure || parts[0].hasSameBytes(as: "http:") && host == "localhost"
        else { return nil }
        if authority.count == 2 {
            guard let port = UInt16(authority[1]), String(port).hasSameBytes(as: authority[1]), port != 0,
                port != (isSecure ? 443 : 80)
            else { return nil }
        }
        id = host
        self.origin = origin
        self.name = name
    }

    private static func isLabel(_ label: Substring.UTF8View.SubSequence) -> Bool {
        !label.isEmpty && label.first != UInt8(ascii: "-")
            && label.allSatisfy { byte in
                isDigit(byte) || byte == UInt8(ascii: "-") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
            }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
