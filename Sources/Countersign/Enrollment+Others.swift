public import CountersignWire
import Encodings
import OpenPGP

/// How an enrollment stands, as the server says.
public struct EnrollmentStatus: Hashable, Sendable {
    /// Whether it can be asked.
    public let state: EnrollmentState
    /// From when its device key counts; nil where it does.
    public let waitingUntil: Timestamp?
    /// Since when it is suspended; nil where it is not.
    public let suspendedAt: Timestamp?
    /// The methods that are set and do not count yet, each with the time from which it does.
    public let waitingMethods: [AnswerMethod: Timestamp]

    init(_ json: JSONValue) throws(JSONShapeError) {
        var members = try JSONMembers(json)
        state = try members.required("state", "\"active\", \"waiting\" or \"suspended\"") {
            $0.string.flatMap(EnrollmentState.init(rawValue:))
        }
        waitingUntil = try members.optional("waiting_until", "a time") { $0.string.flatMap { Timestamp($0) } }
        suspendedAt = try members.optional("suspended_at", "a time") { $0.string.flatMap { Timestamp($0) } }
        waitingMethods = try WaitingMethods.read(&members)
    }
}

/// The user's other devices, as this one may see them.
public struct OtherDevices: Sendable {
    /// The devices, by enrollment.
    public let devices: [OtherDevice]
    /// Whether suspending, resuming and removing them needs a method's signature: ask for the PIN or the biometric first.
    public let needsMethod: Bool
}

/// What the user's other devices are, and what this one does with them.
///
/// A device that waits, or is suspended itself, does nothing of it: ``CountersignError/enrollmentWaiting``,
/// ``CountersignError/enrollmentSuspended``. Spec: design 13 §2.3.
extension Enrollment {
    /// Asks the server how the enrollment stands; what it throws is as in ``refresh()``.
    public func status() async throws(CountersignError) -> EnrollmentStatus {
        let json = try await authenticator.send("GET", "/v1/enrollments/self", for: stored).json()
        do { return try EnrollmentStatus(json) } catch { throw .notHandleable(reason: "\(error)") }
    }

    /// The user's other devices that are not removed.
    public func otherDevices() async throws(CountersignError) -> OtherDevices {
        let reply = try await authenticator.others(of: stored)
        return OtherDevices(devices: reply.devices, needsMethod: reply.needsMethod)
    }

    /// Suspends another device, so that it can say nothing until it is resumed; what waits on it is undone.
    ///
    /// - Parameters:
    ///   - other: which.
    ///   - proof: the PIN or the biometric, where ``OtherDevices/needsMethod`` says so.
    /// - Throws: ``CountersignError/methodNeeded`` where the user has a method that counts and this device signs by none;
    ///   ``CountersignError/pinIncorrect(attemptsLeft:)``, which counts; and others.
    public func suspend(_ other: EnrollmentID, with proof: Proof? = nil) async throws(CountersignError) {
        try await authenticator.act(.suspend, on: other, by: proof, for: stored)
    }

    /// Resumes a suspended device.
    ///
    /// See ``suspend(_:with:)``.
    public func resume(_ other: EnrollmentID, with proof: Proof? = nil) async throws(CountersignError) {
        try await authenticator.act(.resume, on: other, by: proof, for: stored)
    }

    /// Removes another device, for ever; one that waits without any proof.
    ///
    /// See ``suspend(_:with:)``.
    public func remove(_ other: EnrollmentID, with proof: Proof? = nil) async throws(CountersignError) {
        try await authenticator.act(.remove, on: other, by: proof, for: stored)
    }

    /// Undoes a method of another device that does not count yet.
    public func undo(_ method: AnswerMethod, of other: EnrollmentID) async throws(CountersignError) {
        _ = try await authenticator.send(
            "DELETE", "/v1/enrollments/self/others/\(other)/methods/\(method.rawValue)", for: stored)
    }
}

extension Authenticator {
    fileprivate func others(of stored: StoredEnrollment) async throws(CountersignError) -> OtherDevicesReply {
        let json = try await send("GET", "/v1/enrollments/self/others", for: stored).json()
        do { return try OtherDevicesReply(json) } catch { throw .notHandleable(reason: "\(error)") }
    }

    fileprivate func act(
        _ kind: DeviceAct.Kind, on other: EnrollmentID, by proof: Proof?, for stored: StoredEnrollment
    ) async throws(CountersignError) {
        var authorization: [UInt8]?
        if let proof {
            let act = DeviceAct(
                issuer: stored.issuer, enrollment: stored.id, nonce: try await others(of: stored).nonce, kind: kind,
                device: other)
            authorization = try await seal(act.text, signedBy: try await signer(proof, for: stored), for: stored)
        }
        _ = try await send(
            "POST", "/v1/enrollments/self/others/\(other)/\(kind.rawValue)",
            body: DeviceActRequest(authorization: authorization).json, for: stored)
    }

    private func signer(
        _ proof: Proof, for stored: StoredEnrollment
    ) async throws(CountersignError) -> SigningKeyPair {
        switch proof {
        case .pin(let pin): try await signingKey(of: pin, for: stored)
        case .biometric(let prompt): try await biometricKey(prompt, of: stored)
        case .confirmation, .custom:
            throw .configurationInvalid("a PIN or a biometric signs for another device, or nothing")
        }
    }
}
