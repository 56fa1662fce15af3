import CountersignWire
import Encodings
import JOSE
import OpenPGP

/// The issuer's keys that a device fetches again.
enum ServerKeys: Hashable, Sendable {
    /// The certificate: its primary key is pinned, its other keys change.
    case certificate
    /// The keys for push envelopes.
    case push
}

/// The issuer's keys, which may change while a device is enrolled.
extension Authenticator {
    /// How long a fetched certificate is used, in seconds.
    ///
    /// The server still opens what is sealed to a replaced key for a day, so this is less than a day.
    private static let age: Int64 = 12 * 3600
    /// The least time between two fetches for an unknown key, in seconds.
    private static let pause: Int64 = 60

    /// The certificate, fetched again when it is old; the stored one when that fails.
    func serverCertificate(of stored: StoredEnrollment) async -> Certificate {
        let latest = await roster[stored.id] ?? stored
        guard latest.serverCertificateAt.adding(seconds: Self.age) <= (await connection.now) else {
            return latest.serverCertificate
        }
        return (try? await refreshedServerCertificate(of: latest)) ?? latest.serverCertificate
    }

    /// The certificate, fetched within the last minute.
    ///
    /// Fetched keys are added to the stored ones, so a revoked key stays revoked, whatever is fetched. Spec:
    /// docs/protocol/messages.md, *Keys and times*.
    ///
    /// - Throws: ``CountersignError/serverUnreachable(status:)`` when it could not be fetched.
    func refreshedServerCertificate(of stored: StoredEnrollment) async throws(CountersignError) -> Certificate {
        try await refresh(.certificate) { [self] () throws(CountersignError) in
            let response = try await connection.send("GET", "/v1/server-certificate")
            guard let fetched = try? Certificate(armored: String(decoding: response.body, as: UTF8.self)) else {
                throw .serverUnreachable(status: response.status)
            }
            let now = await connection.now
            // All enrollments have the same issuer, so the same certificate.
            for enrollment in await roster.all {
                guard let grown = try? enrollment.serverCertificate.merged(with: fetched) else { continue }
                // If it cannot be stored, it is fetched again after the next start.
                _ = try? await update(enrollment.id) {
                    $0.serverCertificate = grown
                    $0.serverCertificateAt = now
                }
            }
        }
        return (await roster[stored.id] ?? stored).serverCertificate
    }

    /// The keys for push envelopes, fetched within the last minute; the stored ones when that fails.
    func refreshedPushKeys(for stored: StoredEnrollment) async -> JWKSet {
        try? await refresh(.push) { [self] () throws(CountersignError) in
            let response = try await connection.send("GET", "/v1/push-keys")
            guard let keys = try? JWKSet(try response.json()) else {
                throw .serverUnreachable(status: response.status)
            }
            for enrollment in await roster.all { _ = try? await update(enrollment.id) { $0.pushKeys = keys } }
        }
        return (await roster[stored.id] ?? stored).pushKeys
    }

    /// Fetches keys once for all concurrent callers, and not again for a minute after a success.
    private func refresh(
        _ keys: ServerKeys, _ fetch: @escaping @Sendable () async throws(CountersignError) -> Void
    ) async throws(CountersignError) {
        if let error = await roster.fetch(keys, at: await connection.now, every: Self.pause, fetch) { throw error }
    }

    /// Changes the stored record of an enrollment; nil when the enrollment is gone, which stays gone.
    @discardableResult
    func update(
        _ id: EnrollmentID, _ change: @Sendable (inout StoredEnrollment) -> Void
    ) async throws(CountersignError) -> StoredEnrollment? {
        guard var updated = await roster.update(id, change) else { return nil }
        while true {
            try await keep(updated)
            // Meanwhile another change may have been written, or the enrollment removed.
            guard let latest = await roster[id] else {
                try await vaulted { [vault] in try await vault.removeAll(of: id) }
                return nil
            }
            guard latest.json.encoded != updated.json.encoded else { return updated }
            updated = latest
        }
    }
}

extension EnrollmentRegistry {
    /// Fetches keys, unless they were fetched within the given number of seconds; concurrent callers share one fetch.
    ///
    /// - Returns: why the keys could not be fetched; nil when they are current.
    fileprivate func fetch(
        _ keys: ServerKeys, at now: Timestamp, every seconds: Int64,
        _ fetch: @escaping @Sendable () async throws(CountersignError) -> Void
    ) async -> CountersignError? {
        if let last = fetched[keys], last <= now, now < last.adding(seconds: seconds) { return nil }
        let task =
            fetching[keys]
            ?? Task {
                do throws(CountersignError) { try await fetch() } catch { return error }
                return nil
            }
        fetching[keys] = task
        let failure = await task.value
        fetching[keys] = nil
        if failure == nil { fetched[keys] = now }
        return failure
    }
}
