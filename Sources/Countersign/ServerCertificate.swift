import CountersignWire
import Encodings
import JOSE
import OpenPGP

/// What of the issuer's keys a device fetches again.
enum ServerKeys: Hashable, Sendable {
    /// The certificate, whose primary key is pinned, and whose other keys change.
    case certificate
    /// The keys for push envelopes.
    case push
}

/// The issuer's keys, which change under a device.
extension Authenticator {
    /// For how long the certificate is used until it is fetched again, in seconds: what is sealed to a key that was replaced
    /// is honoured for a day.
    private static let age: Int64 = 12 * 3600
    /// How often keys are fetched again at most, in seconds, for one that is not among them.
    private static let pause: Int64 = 60

    /// The certificate, fetched again when it is old; as it was when that fails.
    func serverCertificate(of stored: StoredEnrollment) async -> Certificate {
        let latest = await roster[stored.id] ?? stored
        guard latest.serverCertificateAt.adding(seconds: Self.age) <= (await connection.now) else {
            return latest.serverCertificate
        }
        return (try? await refreshedServerCertificate(of: latest)) ?? latest.serverCertificate
    }

    /// The certificate, as it was fetched within the last minute.
    ///
    /// It only grows: what was revoked stays revoked, whatever is fetched. Spec: design 3.1.
    ///
    /// - Throws: ``CountersignError/serverUnreachable(status:)`` where it could not be fetched.
    func refreshedServerCertificate(of stored: StoredEnrollment) async throws(CountersignError) -> Certificate {
        try await refresh(.certificate) { [self] () throws(CountersignError) in
            let response = try await connection.send("GET", "/v1/server-certificate")
            guard let fetched = try? Certificate(armored: String(decoding: response.body, as: UTF8.self)) else {
                throw .serverUnreachable(status: response.status)
            }
            let now = await connection.now
            // It is the same one for all of them.
            for enrollment in await roster.all {
                guard let grown = try? enrollment.serverCertificate.merged(with: fetched) else { continue }
                // Where it cannot be kept it is fetched again after the next start.
                _ = try? await update(enrollment.id) {
                    $0.serverCertificate = grown
                    $0.serverCertificateAt = now
                }
            }
        }
        return (await roster[stored.id] ?? stored).serverCertificate
    }

    /// The keys for push envelopes, as they were fetched within the last minute; as they were when that fails.
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

    /// Fetches keys once for all who ask meanwhile, and not again for a minute after it succeeded.
    private func refresh(
        _ keys: ServerKeys, _ fetch: @escaping @Sendable () async throws(CountersignError) -> Void
    ) async throws(CountersignError) {
        if let error = await roster.fetch(keys, at: await connection.now, every: Self.pause, fetch) { throw error }
    }

    /// Changes what is remembered of an enrollment; nil when it is gone: what is forgotten stays forgotten.
    @discardableResult
    func update(
        _ id: EnrollmentID, _ change: @Sendable (inout StoredEnrollment) -> Void
    ) async throws(CountersignError) -> StoredEnrollment? {
        guard var updated = await roster.update(id, change) else { return nil }
        while true {
            try await keep(updated)
            // Another change may have been written before this one, or the enrollment forgotten.
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
    /// Fetches keys, unless they were fetched within some seconds; who asks while they are fetched waits for that.
    ///
    /// - Returns: why they could not be fetched; nil when they are those of now.
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
