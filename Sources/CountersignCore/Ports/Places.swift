package import CountersignWire

/// Tells where network addresses are thought to be.
package protocol Places: Sendable {
    /// The place of an IPv4 or IPv6 address; nil where it is not known, as of private addresses.
    func place(of address: String) -> Place?
}

/// Knows no place.
package struct NoPlaces: Places {
    package init() {}

    package func place(of address: String) -> Place? { nil }
}

extension ContextLine {
    /// The same, with the place that it has or, if it has none, the one of its address.
    ///
    /// - Parameters:
    ///   - places: tells where the address is.
    ///   - language: the language of the place's name; nil for English.
    package func placed(by places: any Places, in language: LanguageTag?) -> ContextLine {
        placed(at: place ?? address.flatMap { places.place(of: $0) }, in: language)
    }
}
