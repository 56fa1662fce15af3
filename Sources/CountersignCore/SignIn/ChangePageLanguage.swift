package import CountersignWire

/// Changes the language of a sign-in's pages, as the person asks on one of them.
package enum ChangePageLanguage {
    /// Changes it, if the sign-in is not finished and of this browser.
    ///
    /// - Parameters:
    ///   - id: the sign-in.
    ///   - languages: the languages, as in `ui_locales`.
    ///   - browser: what the browser's cookie holds.
    ///   - ports: the external dependencies.
    /// - Returns: after how long to try again if it was changed too often; nil otherwise.
    /// - Throws: ``StoreError``.
    package static func change(
        _ id: AuthorizationID, to languages: String, in browser: BrowserID, ports: Ports
    ) async throws -> Seconds? {
        let now = ports.time.now
        return try await ports.commit(at: now, as: .system) { work in
            guard let found = try work.authorizations.find(id), found.wanted.languages != languages else { return nil }
            // check: SignInOrdersTests.languages
            guard found.browser == work.hasher.hash(of: browser, client: found.client) else { return nil }
            // The pages of a device's sign-in name their language in their addresses.
            // check: DeviceConfirmTests.otherWays
            guard found.wanted.door == .browser else { return nil }
            let limit = AttemptLimit.pageLanguages(id)
            let changes = try work.counted(limit)
            // Beyond the limit nothing is written: anybody can begin a sign-in, and press a button.
            // check: SignInOrdersTests.languages
            guard !changes.isUsedUp else { return changes.retryAfter(at: now) }
            guard try !work.count(limit).isExceeded else { return changes.retryAfter(at: now) }
            var wanted = found.wanted
            wanted.languages = languages
            try work.authorizations.putWanted(wanted, of: found, at: now)
            return nil
        }
    }
}
