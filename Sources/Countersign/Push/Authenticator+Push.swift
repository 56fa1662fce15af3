public import CountersignWire
import Encodings
public import Foundation
import JOSE

extension Authenticator {
    /// Registers the app's push token, for all its present and future enrollments.
    ///
    /// Call this whenever the system hands out a token, which is at every launch. The SDK tells the server when the
    /// token has changed or a day has passed. If the request fails, the SDK repeats it with the next request for
    /// challenges. So the call throws only errors that a repeat would not cure.
    ///
    /// - Parameters:
    ///   - token: the device token from Apple.
    ///   - app: the app's bundle identifier.
    ///   - environment: which of Apple's two environments handed the token out.
    public func registerPush(
        token: Data, app: String, environment: APNsEnvironment
    ) async throws(CountersignError) {
        try await registerPush(.apns(environment), app: app, token: Hex.encode(Array(token)))
    }

    /// Registers the app's push token, for all its present and future enrollments.
    ///
    /// See ``registerPush(token:app:environment:)``.
    ///
    /// - Parameters:
    ///   - service: the push service.
    ///   - app: the app's bundle identifier or package name.
    ///   - token: the service's token for the app on this device.
    public func registerPush(
        _ service: PushService, app: String, token: String
    ) async throws(CountersignError) {
        guard let app = AppID(app),
            let registration = PushRegistration(service: service, app: app, token: Secret(token))
        else { throw .configurationInvalid("the app's identifier or the token is not one of the push service") }
        try await reach(by: registration)
    }

    /// Removes the push registration: the user has switched notifications off.
    public func unregisterPush() async throws(CountersignError) {
        try await reach(by: nil)
    }

    private func reach(by registration: PushRegistration?) async throws(CountersignError) {
        await roster.reach(by: registration)
        for stored in await roster.all {
            let record = try await pushRecord(of: stored)
            guard await !(record?.isKnown(registration, at: connection.now) ?? (registration == nil)) else { continue }
            try await keep(PushRecord(registration: registration), of: stored)
            do throws(CountersignError) {
                try await tellPush(of: stored)
            } catch {
                guard error.retryHelps || error.isDeregistration else { throw error }
            }
        }
    }

    /// Tells the server the push registration of an enrollment, unless the server has it.
    func tellPush(of stored: StoredEnrollment) async throws(CountersignError) {
        guard var record = try await pushRecord(of: stored), record.toldAt == nil else { return }
        let update = EnrollmentUpdate(push: record.registration.map { .registered($0) } ?? .removed)
        do throws(CountersignError) {
            _ = try await send("PATCH", "/v1/enrollments/self", body: update.json, for: stored)
        } catch {
            // A permanent refusal is not repeated with every look for challenges.
            if !error.retryHelps { try? await vault.remove(PushRecord.name, of: stored.id) }
            throw error
        }
        record.toldAt = await connection.now
        // If the token changed meanwhile, the record of the new one stays and is sent next.
        guard try await pushRecord(of: stored)?.registration?.json == record.registration?.json else { return }
        try await keep(record, of: stored)
    }

    private func pushRecord(of stored: StoredEnrollment) async throws(CountersignError) -> PushRecord? {
        try await vaulted { [vault] in try await vault.record(PushRecord.name, of: stored.id) }
            .flatMap { PushRecord($0) }
    }

    /// Stores the push registration of an enrollment, unless the enrollment was removed meanwhile.
    func keep(_ record: PushRecord, of stored: StoredEnrollment) async throws(CountersignError) {
        guard await roster[stored.id] != nil else { return }
        try await vaulted { [vault] in try await vault.write(record.encoded, as: PushRecord.name, of: stored.id) }
    }

    /// Verifies a push and reads its announcement.
    ///
    /// - Parameters:
    ///   - push: the push, as the system handed it over.
    ///   - skew: how far the device's clock may differ from the server's.
    /// - Returns: nil for a push that is for none of this app's enrollments, and for one that withdraws a notification.
    /// - Throws: ``CountersignError/pushRefused(_:)`` when the push is forged, altered or out of date. For an unknown
    ///   key the SDK first asks the server, at most once a minute.
    public func pendingChallenge(
        from push: PushNotification, allowedClockSkew skew: Duration = .seconds(300)
    ) async throws(CountersignError) -> PendingChallenge? {
        guard push.withdrawnChallenge == nil, let stored = await roster[push.enrollment] else { return nil }
        let envelope = try await verify(push.payload, for: stored, skew: skew.components.seconds)
        return PendingChallenge(envelope, authenticator: self)
    }

    private func verify(
        _ payload: JSONValue, for stored: StoredEnrollment, skew: Int64
    ) async throws(CountersignError) -> PushEnvelope {
        let now = await connection.now
        func envelope(_ keys: JWKSet) throws(PushRefusal) -> PushEnvelope {
            try PushEnvelope(
                verifying: payload, issuer: stored.issuer, enrollment: stored.id, keys: keys, now: now,
                skew: skew)
        }
        do throws(PushRefusal) {
            return try envelope(stored.pushKeys)
        } catch .signature(.unknownKeyID) {
            let keys = await refreshedPushKeys(for: stored)
            do throws(PushRefusal) { return try envelope(keys) } catch { throw .pushRefused(error) }
        } catch {
            throw .pushRefused(error)
        }
    }

    /// Takes a push: verifies it and passes its announcement to ``challenges()``, which delivers each challenge once,
    /// whether it came by push or by polling.
    ///
    /// See ``pendingChallenge(from:allowedClockSkew:)``.
    @discardableResult
    public func receive(
        _ push: PushNotification, allowedClockSkew skew: Duration = .seconds(300)
    ) async throws(CountersignError) -> PendingChallenge? {
        if push.withdrawnChallenge != nil, await roster[push.enrollment] != nil { await lookNow() }
        do throws(CountersignError) {
            guard let pending = try await pendingChallenge(from: push, allowedClockSkew: skew) else { return nil }
            await inbox.offer(pending, at: connection.now)
            return pending
        } catch {
            // Spec: docs/protocol/pushes.md, *What a device verifies*: one that does not pass only causes a request.
            if case .pushRefused = error { await lookNow() }
            throw error
        }
    }

    /// Fetches the pending challenges at once, even if the network has failed before.
    ///
    /// Call this when the app comes to the foreground: if ``challenges()`` is iterated, it then delivers the challenges
    /// that no push announced.
    public func lookNow() async {
        await inbox.lookNow()
    }
}
