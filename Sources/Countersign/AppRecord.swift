import CountersignWire
import Encodings

/// What the server was told last of the app and the device, as a record of the vault.
///
/// The system's version, the app's own and what the user calls the device change without the app being asked; the record
/// says whether there is anything to tell.
struct AppRecord: Equatable, Sendable {
    static let name = "app"
    private static let version: Int64 = 1

    /// What the device says of itself.
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
    /// What there is to be told now.
    func appRecord() throws(CountersignError) -> AppRecord {
        AppRecord(labels: try labels(), versions: [ChallengeBody.version])
    }

    /// Tells the server what the app and the device are called now, where that is not what it was told last.
    ///
    /// - Throws: nothing but that the enrollment is gone: no device is kept from its questions by its name.
    func tellApp(of stored: StoredEnrollment) async throws(CountersignError) {
        guard let record = try? appRecord() else { return }
        let kept = try? await vault.record(AppRecord.name, of: stored.id)
        guard kept != record.encoded else { return }
        let update = EnrollmentUpdate(device: record.labels, versions: record.versions)
        do throws(CountersignError) {
            _ = try await send("PATCH", "/v1/enrollments/self", body: update.json, for: stored)
        } catch {
            if error.isDeregistration { throw error }
            // What is refused for good is not told again with every look.
            if error.retryHelps { return }
        }
        await keep(record, of: stored.id)
    }

    /// Keeps what the server was told, unless the enrollment was removed meanwhile.
    func keep(_ record: AppRecord, of id: EnrollmentID) async {
        guard await roster[id] != nil else { return }
        // Not kept, it is told again.
        try? await vault.write(record.encoded, as: AppRecord.name, of: id)
    }
}
