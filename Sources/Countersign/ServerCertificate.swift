import CountersignWire
import OpenPGP

/// The issuer's certificate, whose primary key is pinned, and whose other keys change.
extension Authenticator {
    /// For how long it is used until it is fetched again, in seconds: what is sealed to a key that was replaced is honoured
    /// for a day.
    private static let age: Int64 = 12 * 3600
    /// How often it is fetched again at most, in seconds, for a key that is not in it.
    private static let refresh: Int64 = 60

    /// The certificate, fetched again when it is old; as it was when that fails.
    func serverCertificate(of stored: StoredEnrollment) async -> Certificate {
        let latest = await roster[stored.id] ?? stored
        guard latest.serverCertificateAt.adding(seconds: Self.age) <= (await connection.now) else {
            return latest.serverCertificate
        }
        return await refreshedServerCertificate(of: latest)
    }

    /// The certificate, fetched again at most once a minute; as it was when that fails.
    ///
    /// It only grows: what was revoked stays revoked, whatever is fetched. Spec: design 3.1.
    func refreshedServerCertificate(of stored: StoredEnrollment) async -> Certificate {
        let latest = await roster[stored.id] ?? stored
        let now = await connection.now
        guard await roster.mayRefreshCertificate(at: now, every: Self.refresh),
            let response = try? await connection.send("GET", "/v1/server-certificate"),
            let fetched = try? Certificate(armored: String(decoding: response.body, as: UTF8.self))
        else { return latest.serverCertificate }
        // It is the same one for all of them.
        for enrollment in await roster.all {
            guard let grown = try? enrollment.serverCertificate.merged(with: fetched) else { continue }
            // Where it cannot be kept it is fetched again.
            _ = try? await update(enrollment.id) {
                $0.serverCertificate = grown
                $0.serverCertificateAt = now
            }
        }
        return await roster[stored.id]?.serverCertificate ?? latest.serverCertificate
    }

    /// Changes what is remembered of an enrollment; nil when it is gone: what is forgotten stays forgotten.
    @discardableResult
    func update(
        _ id: EnrollmentID, _ change: @Sendable (inout StoredEnrollment) -> Void
    ) async throws(CountersignError) -> StoredEnrollment? {
        guard let updated = await roster.update(id, change) else { return nil }
        try await keep(updated)
        return updated
    }
}

extension Roster {
    /// Whether it is time to fetch the certificate again; says yes once per interval.
    fileprivate func mayRefreshCertificate(at now: Timestamp, every seconds: Int64) -> Bool {
        if let last = lastCertificateRefresh, last <= now, now < last.adding(seconds: seconds) { return false }
        lastCertificateRefresh = now
        return true
    }
}
