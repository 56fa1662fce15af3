public import CountersignWire
import Encodings
public import Foundation

extension Authenticator {
    /// Says where this app is reached by push, for all its enrollments and those to come.
    ///
    /// Call it whenever the system hands out a token, which is at every launch: the server is told when the token is
    /// another, or a day has gone by. What does not get through is kept and told with the next look for challenges, so
    /// that only what would never get through is thrown.
    ///
    /// - Parameters:
    ///   - token: what Apple calls the app on this device.
    ///   - app: the app's bundle identifier.
    ///   - environment: which of Apple's two systems handed it out.
    public func registerPush(
        token: Data, app: String, environment: APNsEnvironment
    ) async throws(CountersignError) {
        try await registerPush(.apns(environment), app: app, token: Hex.encode(Array(token)))
    }

    /// Says where this app is reached by push, for all its enrollments and those to come.
    ///
    /// See ``registerPush(token:app:environment:)``.
    ///
    /// - Parameters:
    ///   - service: who delivers.
    ///   - app: the app's bundle identifier or package name.
    ///   - token: what the service calls the app on this device.
    public func registerPush(
        _ service: PushService, app: String, token: String
    ) async throws(CountersignError) {
        guard let app = AppID(app),
            let registration = PushRegistration(service: service, app: app, token: Secret(token))
        else { throw .configurationInvalid("the app's identifier or the token is not one of the push service") }
        try await reach(by: registration)
    }

    /// Says that this app is not reached by push any more: the user has switched notifications off.
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

    /// Tells the server where an enrollment is reached by push, if it is not told yet.
    func tellPush(of stored: StoredEnrollment) async throws(CountersignError) {
        guard var record = try await pushRecord(of: stored), record.toldAt == nil else { return }
        let update = EnrollmentUpdate(push: record.registration.map { .registered($0) } ?? .removed)
        do throws(CountersignError) {
            _ = try await send("PATCH", "/v1/enrollments/self", body: update.json, for: stored)
        } catch {
            // What is refused for good is not told again with every look.
            if !error.retryHelps { try? await vault.remove(PushRecord.name, of: stored.id) }
            throw error
        }
        record.toldAt = await connection.now
        // Another token that came meanwhile stays, and is told next.
        guard try await pushRecord(of: stored)?.registration?.json == record.registration?.json else { return }
        try await keep(record, of: stored)
    }

    private func pushRecord(of stored: StoredEnrollment) async throws(CountersignError) -> PushRecord? {
        try await vaulted { [vault] in try await vault.record(PushRecord.name, of: stored.id) }
            .flatMap { PushRecord($0) }
    }

    /// Keeps where an enrollment is reached, unless it was removed meanwhile.
    func keep(_ record: PushRecord, of stored: StoredEnrollment) async throws(CountersignError) {
        guard await roster[stored.id] != nil else { return }
        try await vaulted { [vault] in try await vault.write(record.encoded, as: PushRecord.name, of: stored.id) }
    }

    /// Reads what a push announces.
    ///
    /// - Parameters:
    ///   - push: the push, as the system handed it over.
    ///   - skew: how far the device's clock may differ from the server's.
    /// - Returns: nil for a push that is for none of this app's enrollments, or takes a notification back.
    /// - Throws: ``CountersignError/pushRefused(_:)`` when it is forged, altered or over. An unknown key is looked up at
    ///   the server first, at most once a minute.
    public func pendingChallenge(
        from push: PushNotification, allowedClockSkew skew: Duration = .seconds(300)
    ) async throws(CountersignError) -> PendingChallenge? {
        guard push.withdrawnChallenge == nil, let stored = await roster[push.enrollment] else { return nil }
        let envelope = try await verify(push.payload, for: stored, skew: skew.components.seconds)
        return PendingChallenge(envelope, authenticator: self)
    }

    /// Takes a push: reads what it announces and hands that to ``challenges()``, where it comes once, whether by push or
    /// by asking.
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
            // Spec: design 3.6: what cannot be believed is dropped, and only has the server asked.
            if case .pushRefused = error { await lookNow() }
            throw error
        }
    }

    /// Looks at once for what is pending, whatever the network did before.
    ///
    /// Call it when the app comes to the foreground: what no push brought arrives then, if ``challenges()`` is iterated.
    public func lookNow() async {
        await inbox.lookNow()
    }
}
