import CountersignWire
import Encodings
import Foundation

extension OpenIDClient {
    /// How long taking back what was given up may take.
    private static let takingBack = Duration.seconds(5)

    /// Signs a person in who approves it on a device that they trust, in the place of whoever was signed in.
    ///
    /// Nothing is opened and nothing is typed here: the app shows what it is given, and waits. With a hint the issuer
    /// asks the devices of that person, who types there the number that is shown here, within a minute. Without one the
    /// person opens a page on another device, and types the code there.
    ///
    /// It ends in one way alone: somebody is signed in, or one of the errors below is thrown. An app gives up by
    /// cancelling the task. What was asked is then taken back: a device that still shows the question is told that it
    /// has ended. A network that fails meanwhile ends nothing.
    ///
    /// The issuer gives no scope `enroll` in this way, and may give fewer others, such as no refresh token: look at
    /// ``SignedIn/scopes``.
    ///
    /// Spec: RFC 8628 §3.1, §3.3.
    ///
    /// - Parameters:
    ///   - loginHint: whose devices are asked, such as their address; nil for nobody's.
    ///   - show: shows the number, the code and the address. It is called once, and asking begins when it returns.
    /// - Returns: who signed in, after the ID token was verified and the tokens were stored.
    /// - Throws: ``CountersignError/signInRefused(_:)`` with ``SignInRefusal/declined`` if the person denied it, with
    ///   ``SignInRefusal/expired`` if nobody approved it in time, and with another refusal if the issuer does not do
    ///   this for the app; ``CountersignError/cancelled`` if the task was cancelled;
    ///   ``CountersignError/providerInvalid(_:)`` and ``CountersignError/idTokenRefused(_:)`` if what the issuer says
    ///   cannot be used, and the errors of the network and the vault.
    public func signInElsewhere(
        loginHint: String? = nil, showing show: @Sendable (SignInPrompt) async -> Void
    ) async throws(CountersignError) -> SignedIn {
        let metadata = try await currentMetadata()
        guard let endpoint = metadata.deviceAuthorizationEndpoint else {
            throw .providerInvalid("it names no device authorization endpoint")
        }
        let key = newKey(at: metadata)
        // Whatever else could fail fails before a phone is asked.
        if keys == nil { _ = try await fetchedKeys() }
        var form = [("client_id", registration.clientID), ("scope", registration.scopes.joined(separator: " "))]
        if let loginHint {
            form += [("login_hint", loginHint), ("requested_expiry", "\(DeviceAuthorization.wanted)")]
        } else {
            // Our server gives the address with the code only to whoever wants it; others ignore this.
            form.append(("verification_uri_complete", "true"))
        }
        // It is not sent again: each request asks the person.
        let response = try await connection.post(form, to: endpoint)
        let begun = ContinuousClock.now
        let code = try DeviceAuthorization.code(in: response)
        let reply: TokenReply?
        do throws(CountersignError) {
            let authorization = try DeviceAuthorization(response, of: registration.issuer)
            await show(authorization.prompt)
            reply = try await self.reply(to: code, authorization, key, until: begun + authorization.prompt.expiresIn)
        } catch {
            // What was denied is over at the issuer; everything else may still be approved.
            if case .signInRefused(.declined) = error { throw error }
            await takeBack(code)
            throw error
        }
        guard let reply else {
            await takeBack(code)
            throw .signInRefused(.expired)
        }
        return try await signedIn(byElsewhere: reply, key)
    }

    /// Asks until there are tokens; nil if nobody has approved in time, by the clock of this device.
    private func reply(
        to code: Secret<String>, _ authorization: DeviceAuthorization, _ key: TokenKey?,
        until end: ContinuousClock.Instant
    ) async throws(CountersignError) -> TokenReply? {
        var pace = authorization.pace
        while ContinuousClock.now < end {
            let sent = ContinuousClock.now
            var pause = Duration.zero
            do throws(CountersignError) {
                switch try await poll(code, key) {
                case .tokens(let reply): return reply
                case .ended(let refusal): throw .signInRefused(refusal)
                case .pending: pause = pace.pause(afterPollOf: sent.duration(to: .now))
                case .tooFast(let time): pause = pace.pauseAfterTooFast(retryAfter: time)
                case .unavailable(let time): pause = pace.pauseAfterFailure(retryAfter: time)
                }
            } catch {
                // A reply that was lost may have been that of the tokens, which the issuer may not give twice.
                guard case .network = error else { throw error }
                pause = pace.pauseAfterFailure()
            }
            let left = ContinuousClock.now.duration(to: end)
            do { try await Task.sleep(for: min(pause, max(.zero, left))) } catch { throw .cancelled }
        }
        return nil
    }

    /// Asks once; the issuer may hold the request until there is something to say.
    ///
    /// Spec: RFC 8628 §3.4, RFC 7240 §4.3.
    private func poll(_ code: Secret<String>, _ key: TokenKey?) async throws(CountersignError) -> DevicePollReply {
        let form = [
            ("grant_type", DeviceAuthorization.grantType), ("device_code", code.reveal()),
            ("client_id", registration.clientID),
        ]
        return try DevicePollReply(
            try await connection.post(
                form, to: try await currentMetadata().tokenEndpoint, waiting: DeviceAuthorization.held,
                provedBy: key), isBound: key != nil)
    }

    private func signedIn(byElsewhere reply: TokenReply, _ key: TokenKey?) async throws(CountersignError) -> SignedIn {
        do throws(CountersignError) {
            // Whoever has given up finds nobody signed in.
            guard !Task.isCancelled else { throw .cancelled }
            return try await signedIn(by: reply, .elsewhere, key)
        } catch {
            await takeBack(reply.refresh ?? reply.access)
            throw error
        }
    }

    /// Has the issuer take back a code or a token that nobody uses any more; if that fails, it ends by itself.
    private func takeBack(_ token: Secret<String>) async {
        guard let endpoint = metadata?.revocationEndpoint else { return }
        let impatient = ProviderConnection(
            transport: connection.transport, timeout: min(connection.timeout, Self.takingBack))
        let form = [("token", token.reveal()), ("client_id", registration.clientID)]
        // A task that was cancelled sends nothing, and it is then that this matters most.
        await Task { _ = try? await impatient.post(form, to: endpoint, isRepeatable: true) }.value
    }
}
