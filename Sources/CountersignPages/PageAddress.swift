/// Addresses that a page may lead to.
enum PageAddress {
    /// Whether an address is one of http or https, so that no browser runs it as a script.
    static func isOfTheWeb(_ url: String) -> Bool {
        let start = url.prefix(8).lowercased()
        return start.hasPrefix("https://") || start.hasPrefix("http://")
    }
}
