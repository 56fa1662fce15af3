import CountersignWire

/// The scopes of vendors' apps, and what they are called here.
///
/// Spec: docs/decisions/0107-oktas-door.md.
package enum VendorScopes {
    /// Managing the user's devices, for which the rules of the scope `enroll` hold.
    private static let managing = ["okta.authenticators.manage.self", "okta.myAccount.appAuthenticator.manage"]
    /// What every access token gives that says who its user is.
    private static let reading = [
        "okta.authenticators.read", "okta.users.read.self", "okta.myAccount.appAuthenticator.read",
    ]
    /// What a device asks for that manages its own enrollment, by a token that it has signed for.
    package static let maintenance = [
        "okta.myAccount.appAuthenticator.maintenance.manage", "okta.myAccount.appAuthenticator.maintenance.read",
    ]

    /// The scopes that a request names, with those of ours in the place of the vendor's.
    ///
    /// - Parameters:
    ///   - named: the scopes of the request.
    ///   - client: the client; of one that may not make the vendor's calls, the names stand for nothing.
    package static func translated(_ named: [String], for client: Client) -> [String] {
        // check: OktaScopeTests.off
        guard client.vendors.contains(.okta) else { return named }
        let isManaging = named.contains(where: managing.contains)
        let isReading = named.contains(where: reading.contains)
        let own = named.filter { !(managing + reading + maintenance).contains($0) }
        return own + (isManaging ? [Ticket.scope] : []) + (isReading ? [TokenFamily.openID] : [])
    }
}
