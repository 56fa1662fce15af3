package import CountersignWire

/// Shows the code of a sign-in to the browser that began it, made anew each time.
package enum ShowSignInCode {
    /// The code that a device scans; nil if there is none to scan in this browser.
    ///
    /// - Throws: ``StoreError``.
    package static func code(of id: AuthorizationID, in browser: BrowserID, ports: Ports) async throws -> ShownCode? {
        let now = ports.time.now
        guard
            case .shown(_, .showing(let challenge, _)) = try await WatchAuthorization.show(
                id, in: browser, ports: ports)
        else { return nil }
        return try await ports.store.read { try $0.challenges.find(challenge) }
            .flatMap { ShownCode(of: $0, at: now, ports.hasher) }
    }
}
