/// Addresses that a page may lead to.
enum PageAddress {
    /// Whether an address is one of http or https, so that no browser runs it as a script.
    static func isOfTheWeb(_ url: String) -> Bool {
        // By bytes: a slash under a combining mark is another `Character`.
        let start = url.utf8.prefix(8).map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        return start.elementsEqual("https://".utf8) || start.starts(with: "http://".utf8)
    }
}
