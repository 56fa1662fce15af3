import CountersignWire
import Encodings

/// The description of the app and the device that the server received last, as a record of the vault.
///
/// The system's version, the app's version and the user's name for the device change without the app's doing. The
/// record shows whether the server needs an update.
struct AppRecord: Equatable, Sendable {
    static let name = "app"
    private static let version: Int64 = 1

    /// The description of the device.
    let labels: DeviceLabels
    /// The versions of challenges that this SDK reads.
    let versions: [Int64]

    var encoded: [UInt8] {
        JSONValue.members([
            "v": .integer(Self.version), "device": labels.json, "versions": .array(versions.map(JSONValue.integer)),
        ]).encoded
    }
}

extension Authenticator {
    /// The description of the app and the device as it is now.
    func appRecord() throws(CountersignError) -> AppRecord {
        AppRecord(labels: try labels(), versions: [ChallengeBody.version])
    }

    /// Sends the server the current description of the app and the device, if it differs from the last one sent.
    ///
    /// - Throws: only the errors of a removed enrollment. No other failure keeps the device from its challenges.
    func tellApp(of stored: StoredEnrollment) async throws(CountersignError) {
        guard let record = try? appRecord() else { return }
        let kept = try? await vault.record(AppRecord.name, of: stored.id)
        guard kept != record.encoded else { return }
        let update = EnrollmentUpdate(device: record.labels, versions: record.versions)
        do throws(CountersignError) {
            _ = try await send("PATCH", "/v1/enrollments/self", body: update.json, for: stored)
        } catch {
            if error.isDeregistration { throw error }
            // A permanent refusal is recorded as sent, so that it is not repeated with every look for challenges.
            if error.retryHelps { return }
        }
        await keep(record, of: stored.id)
    }

    /// Stores the description that the server received, unless the enrollment was removed meanwhile.
    func keep(_ record: AppRecord, of id: EnrollmentID) async {
        guard await roster[id] != nil else { return }
        // If this fails, the description is sent again.
        try? await vault.write(record.encoded, as: AppRecord.name, of: id)
    }
}
