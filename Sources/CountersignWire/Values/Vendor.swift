/// Another product whose calls the server can take in the place of its own, where an operator lets a client make them.
package enum Vendor: String, CaseIterable, Sendable {
    /// Cotter's.
    case cotter
    /// Okta's for custom authenticators.
    case okta
    /// OneWelcome's, which was Onegini: the portal's calls for mobile authentication.
    case oneWelcome = "onewelcome"

    /// The names, for the message about another one.
    package static let expected = "an array of \"cotter\", \"okta\" and \"onewelcome\""
}
