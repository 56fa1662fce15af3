package import CountersignWire

extension Issuer {
    /// The page on which people see and end what they allowed: a redirect URI of the client through which they sign in
    /// to it.
    package var accountPage: String { "\(self)/account" }
}

extension UnitOfWork {
    /// The client through which people sign in to their account page; nil if there is none.
    func accountClient() throws -> Client? { try relyingParties.account().flatMap { try clients.find($0) } }
}
