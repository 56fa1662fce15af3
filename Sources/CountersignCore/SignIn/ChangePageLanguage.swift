package import CountersignWire

/// Changes the language of a sign-in's pages, as the person asks on one of them.
package enum ChangePageLanguage {
    /// Changes it, if the sign-in is open and of this browser.
    ///
    /// - Parameters:
    ///   - id: the sign-in.
    ///   - languages: the languages, as in `ui_locales`.
    ///   - browser: what the browser's cookie holds.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func change(
        _ id: AuthorizationID, to languages: String, in browser: BrowserID, ports: Ports
    ) async throws {
        let now = ports.time.now
        try await ports.commit(at: now, as: .system) { work in
            guard let found = try work.authorizations.find(id),
                found.browser == work.hasher.hash(of: browser, client: found.client)
            else { return }
            var wanted = found.wanted
            wanted.languages = languages
            try work.authorizations.putWanted(
                Authorization(
                    id: id, wanted: wanted, browser: found.browser, user: found.user, ask: found.ask,
                    state: found.state, expiresAt: found.expiresAt), at: now)
        }
    }
}
