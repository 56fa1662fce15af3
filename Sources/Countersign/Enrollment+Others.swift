public import CountersignWire
import Encodings
import OpenPGP

/// The current status of an enrollment on the server.
public struct EnrollmentStatus: Hashable, Sendable {
    /// The state: whether the device can be asked, waits, or is suspended.
    public let state: EnrollmentState
    /// When its device key begins to count; nil if it counts already.
    public let waitingUntil: Timestamp?
    /// When it was suspended; nil if it is not suspended.
    public let suspendedAt: Timestamp?
    /// The methods that are set but do not count yet, each with the time from which the server accepts its answers.
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

/// The user's other devices, as the server shows them to this one.
public struct OtherDevices: Sendable {
    /// The devices, by enrollment.
    public let devices: [OtherDevice]
    /// Whether suspending, resuming and removing a device needs the signature of a method: ask for the PIN or the
    /// biometric first.
    public let needsMethod: Bool
}

/// Lists the user's other devices, and suspends, resumes and removes them.
///
/// A device that waits or is suspended cannot do any of this: the calls throw ``CountersignError/enrollmentWaiting`` or
/// ``CountersignError/enrollmentSuspended``. Spec: docs/protocol/devices.md.
extension Enrollment {
    /// Asks the server for the status of the enrollment; throws the errors of ``refresh()``.
    public func status() async throws(CountersignError) -> EnrollmentStatus {
        let json = try await authenticator.send("GET", "/v1/enrollments/self", for: stored).json()
        do { return try EnrollmentStatus(json) } catch { throw .notHandleable(reason: "\(error)") }
    }

    /// Lists the user's other devices, without removed ones.
    public func otherDevices() async throws(CountersignError) -> OtherDevices {
        let reply = try await authenticator.others(of: stored)
        return OtherDevices(devices: reply.devices, needsMethod: reply.needsMethod)
    }

    /// Suspends another device: it can do nothing until it is resumed, and its changes that still wait are undone.
    ///
    /// - Parameters:
    ///   - other: the device.
    ///   - proof: the PIN or the biometric, if ``OtherDevices/needsMethod`` is true.
    /// - Throws: ``CountersignError/methodNeeded`` when the user has a method that counts and this device does not sign
    ///   with one; ``CountersignError/pinIncorrect(attemptsLeft:)``, which uses up an attempt; and others.
    public func suspend(_ other: EnrollmentID, with proof: Proof? = nil) async throws(CountersignError) {
        try await authenticator.act(.suspend, on: other, by: proof, for: stored)
    }

    /// Resumes a suspended device.
    ///
    /// See ``suspend(_:with:)``.
    public func resume(_ other: EnrollmentID, with proof: Proof? = nil) async throws(CountersignError) {
        try await authenticator.act(.resume, on: other, by: proof, for: stored)
    }

    /// Removes another device for ever; a device that still waits is removed without a proof.
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
