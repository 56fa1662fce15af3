public import CountersignWire
import Encodings
import OpenPGP

/// A request that says it comes from a device: parsed, believed in nothing.
public struct DeviceRequest: Sendable {
    /// The signature's fields.
    public let signature: UnverifiedRequestSignature
    /// What the signature covers, as it arrived.
    public let request: SignedRequest
    /// The body.
    public let body: [UInt8]

    /// A request of these parts.
    public init(signature: UnverifiedRequestSignature, request: SignedRequest, body: [UInt8]) {
        self.signature = signature
        self.request = request
        self.body = body
    }
}

/// Why a device is not let in.
public enum DeviceRefusal: Error, Equatable, Sendable {
    /// The signature is not what it must be.
    case signature(MessageSignatureError)
    /// No such enrollment.
    case unknownEnrollment
    /// The signature is good and its time is not.
    case clockSkew(serverTime: Timestamp)
    /// The signature is good and was used before.
    case nonceReplayed
    /// The enrollment is over; the notice says so for the device to verify.
    case deregistered(RemovalNotice)
    /// The enrollment is suspended: its device can look at itself and remove itself.
    case suspended
}

/// A request whose signature is an active enrollment's and within time.
///
/// Its nonce is not spent yet: every operation does that in its own transaction, by ``UnitOfWork/admit(_:issuer:)``.
public struct DeviceCall: Sendable {
    /// Who calls.
    public let enrollment: Enrollment
    fileprivate let nonce: SpendableNonce

    fileprivate init(enrollment: Enrollment, nonce: SpendableNonce) {
        self.enrollment = enrollment
        self.nonce = nonce
    }
}

/// A nonce that a valid signature covers.
struct SpendableNonce: Sendable {
    /// How far a request's time may be off, in seconds.
    ///
    /// Spec: design 3.5.
    static let tolerance: Int64 = 60
    /// How much longer than a signature is in time its nonce is remembered, in seconds.
    ///
    /// A replay may be verified at the last moment and spend its nonce later, after a sweep, or the clock may be set
    /// back a little.
    private static let margin: Int64 = 60

    let nonce: String
    let keyID: String
    let until: Timestamp

    /// Checks the time of a signature that is known to be good.
    init(_ parameters: SignatureParameters, now: Timestamp) throws(DeviceRefusal) {
        guard abs(now.seconds - parameters.created) <= Self.tolerance else { throw .clockSkew(serverTime: now) }
        nonce = parameters.nonce
        keyID = parameters.keyID
        until = Timestamp(seconds: parameters.created).adding(seconds: Self.tolerance + 1 + Self.margin)
    }
}

/// Finds out which device calls.
///
/// Spec: design 3.5 and 3.8, step 1.
public enum VerifyDevice {
    /// Verifies a request of an enrolled device.
    public static func verify(
        _ request: DeviceRequest, ports: Ports
    ) async throws -> Result<DeviceCall, DeviceRefusal> {
        guard let id = EnrollmentID(request.signature.parameters.keyID),
            let enrollment = try await ports.store.read({ try $0.enrollments.find(id) })
        else { return .failure(.unknownEnrollment) }
        let now = ports.time.now
        do throws(DeviceRefusal) {
            try request.verify(by: enrollment.keys.authentication)
            if let notice = enrollment.state.removalNotice(of: enrollment.id, issuer: ports.issuer) {
                throw .deregistered(notice)
            }
            let nonce = try SpendableNonce(request.signature.parameters, now: now)
            return .success(DeviceCall(enrollment: enrollment, nonce: nonce))
        } catch {
            return .failure(error)
        }
    }
}

extension DeviceRequest {
    func verify(by key: CertifiedKey) throws(DeviceRefusal) {
        guard case .ecdsa(let publicKey) = key.publicKey.material else { throw .signature(.invalid) }
        do { try signature.verify(request, body: body, by: publicKey) } catch { throw .signature(error) }
    }
}

extension Enrollment.State {
    fileprivate func removalNotice(of enrollment: EnrollmentID, issuer: Issuer) -> RemovalNotice? {
        switch self {
        case .active, .suspended: nil
        case .removed(let reason, let time):
            RemovalNotice(issuer: issuer, enrollment: enrollment, removedAt: time, reason: reason)
        }
    }
}

extension Stores {
    /// Why an enrollment may not go on, or nil.
    ///
    /// Spec: design 13 §2.4.
    ///
    /// - Parameters:
    ///   - enrollment: which.
    ///   - isSuspendedToo: whether a suspended device may do what it wants to do.
    ///   - issuer: the issuer.
    func refusal(
        of enrollment: EnrollmentID, evenSuspended isSuspendedToo: Bool = false, issuer: Issuer
    ) throws -> DeviceRefusal? {
        guard let state = try enrollments.state(enrollment) else { return .unknownEnrollment }
        if case .suspended = state, !isSuspendedToo { return .suspended }
        return state.removalNotice(of: enrollment, issuer: issuer).map(DeviceRefusal.deregistered)
    }
}

extension UnitOfWork {
    /// Lets a device in: spends the call's nonce and looks whether the enrollment is still active, in the transaction
    /// that does the work.
    func admit(
        _ call: DeviceCall, evenSuspended isSuspendedToo: Bool = false
    ) throws -> DeviceRefusal? {
        try stores.refusal(of: call.enrollment.id, evenSuspended: isSuspendedToo, issuer: issuer)
            ?? spendNonce(call.nonce)
    }

    func spendNonce(_ nonce: SpendableNonce) throws -> DeviceRefusal? {
        try nonces.spend(nonce: nonce.nonce, of: nonce.keyID, until: nonce.until) ? nil : .nonceReplayed
    }
}
