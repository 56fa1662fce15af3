package import CountersignWire

/// Shows a sign-in to the browser that began it, now or when something changes.
package enum WatchAuthorization {
    /// What the page shows.
    package enum Progress: Equatable, Sendable {
        /// The number can be typed until this time.
        case asking(EntryNumber, until: Timestamp)
        /// The code of a challenge can be scanned until this time.
        case showing(ChallengeID, until: Timestamp)
        /// The code that was sent can be typed until this time.
        case typing(Verification, until: Timestamp)
        /// A device has scanned the code, and the person decides until this time.
        case scanned(until: Timestamp)
        /// The person declined; only a browser of theirs is told.
        case declined
        /// Nobody has answered, as far as this browser is told.
        case unanswered
        /// The person is authenticated, and the browser can go on.
        case authenticated
        /// The result was fetched before, or the person cancelled.
        case finished
    }

    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The sign-in, and what the page shows of it.
        case shown(Authorization, Progress)
        /// There is no such sign-in in this browser, or it is over.
        case notFound
    }

    /// A sign-in as it is now.
    ///
    /// - Parameters:
    ///   - id: the sign-in.
    ///   - browser: what the browser's cookie holds.
    ///   - isOfDevice: whether it is one that a device has asked for, which has pages of its own.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func show(
        _ id: AuthorizationID, in browser: BrowserID, isOfDevice: Bool = false, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        return try await ports.store.read { reader in
            guard let found = try reader.authorizations.find(id), now < found.expiresAt else { return .notFound }
            // check: SignInTests.otherBrowser
            guard found.browser == ports.hasher.hash(of: browser, client: found.client) else { return .notFound }
            // check: DeviceConfirmTests.otherWays
            guard isOfDevice ? found.wanted.device != nil : found.wanted.door == .browser else { return .notFound }
            let progress = found.progress(at: now)
            // Whether a code was scanned stands with its challenge.
            guard case .showing(let challenge, let until) = progress,
                try reader.challenges.find(challenge)?.channel.claimedAt != nil
            else { return .shown(found, progress) }
            return .shown(found, .scanned(until: until))
        }
    }

    /// A sign-in when it is no longer as the page shows it, or at the deadline.
    ///
    /// - Parameters:
    ///   - id: the sign-in.
    ///   - browser: what the browser's cookie holds.
    ///   - isOfDevice: whether it is one that a device has asked for, which has pages of its own.
    ///   - isScanned: whether the page shows that a device has scanned the code.
    ///   - deadline: until when to wait.
    ///   - changes: notifies of changes.
    ///   - ports: the external dependencies.
    /// - Throws: `CancellationError` when the wait is interrupted; ``StoreError``.
    package static func show(
        _ id: AuthorizationID, in browser: BrowserID, isOfDevice: Bool = false, isScanned: Bool,
        waitingUntil deadline: Timestamp, changes: any ChangeNotifier, ports: Ports
    ) async throws -> Outcome {
        // Subscribed before the first look: a change in between is not missed.
        let subscription = changes.subscribe(to: .authorization(id))
        while true {
            let outcome = try await show(id, in: browser, isOfDevice: isOfDevice, ports: ports)
            guard case .shown(_, let progress) = outcome, let until = progress.end(isScanned: isScanned),
                ports.time.now < deadline
            else { return outcome }
            try await subscription.wait(until: min(deadline, until))
        }
    }
}

extension Authorization {
    /// What the page shows at a time.
    ///
    /// A browser that is not the user's sees the same whether somebody declined, nobody answered, or nobody was asked.
    package func progress(at now: Timestamp) -> WatchAuthorization.Progress {
        switch state {
        case .authenticated: return .authenticated
        case .refused, .granted, .redeemed: return .finished
        case .open: break
        }
        guard let ask else { return .unanswered }
        if ask.isDeclined, ask.isBrowserKnown { return .declined }
        guard now < ask.until else { return .unanswered }
        switch ask.shown {
        case .number(let number): return .asking(number, until: ask.until)
        case .code: return ask.challenge.map { .showing($0, until: ask.until) } ?? .unanswered
        case .field(let sent): return .typing(sent, until: ask.until)
        }
    }
}

extension WatchAuthorization.Progress {
    /// Until when a page that shows this need not change; nil if it must change now.
    fileprivate func end(isScanned: Bool) -> Timestamp? {
        switch self {
        case .asking(_, let until), .typing(_, let until): until
        case .showing(_, let until): isScanned ? nil : until
        case .scanned(let until): isScanned ? until : nil
        case .declined, .unanswered, .authenticated, .finished: nil
        }
    }
}
