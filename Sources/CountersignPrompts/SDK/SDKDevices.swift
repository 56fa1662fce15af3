public import Countersign
import CountersignWire

/// The PIN of an enrollment.
public struct SDKPIN: PINKeeper {
    private let enrollment: Enrollment
    private let authority: EnrollmentAuthority?

    /// The PIN of an enrollment.
    ///
    /// - Parameters:
    ///   - enrollment: the enrollment.
    ///   - authority: what entitles the device to set its first PIN, if the enrollment is older than ten minutes.
    public init(_ enrollment: Enrollment, authority: EnrollmentAuthority? = nil) {
        self.enrollment = enrollment
        self.authority = authority
    }

    /// See ``PINKeeper/status()``.
    public func status() async throws(CountersignError) -> PINStatus {
        let methods = try await enrollment.methods()
        let kind: PINStatus.Kind =
            switch methods.pin {
            case .none: .none
            case .set: .set(attemptsLeft: methods.attemptsLeft)
            case .locked: .locked
            }
        return PINStatus(kind: kind, rules: PINRules(methods.pinPolicy))
    }

    /// See ``PINKeeper/set(_:)``.
    public func set(_ pin: PIN) async throws(CountersignError) {
        try await enrollment.setPIN(pin, authority: authority)
    }

    /// See ``PINKeeper/change(from:to:)``.
    public func change(from old: PIN, to new: PIN) async throws(CountersignError) {
        try await enrollment.changePIN(from: old, to: new)
    }
}

/// A custom authenticator of an enrollment.
public struct SDKCustomRegistrar: CustomRegistrar {
    /// See ``CustomRegistrar/name``.
    public let name: String
    private let enrollment: Enrollment
    private let authority: EnrollmentAuthority?

    /// A custom authenticator.
    ///
    /// - Parameters:
    ///   - name: the name under which the app's operator has set it up.
    ///   - enrollment: the enrollment.
    ///   - authority: what entitles the device to the change if no PIN is set and the enrollment is older than ten
    ///     minutes.
    public init(_ name: String, of enrollment: Enrollment, authority: EnrollmentAuthority? = nil) {
        self.name = name
        self.enrollment = enrollment
        self.authority = authority
    }

    /// See ``CustomRegistrar/status()``.
    public func status() async throws(CountersignError) -> (isRegistered: Bool, needsPIN: Bool) {
        let methods = try await enrollment.methods()
        return (methods.custom[name] ?? false, methods.pin == .set)
    }

    /// See ``CustomRegistrar/register(_:pin:)``.
    public func register(_ data: String, pin: PIN?) async throws(CountersignError) -> String? {
        try await enrollment.register(custom: name, data: data, pin: pin, authority: authority)
    }

    /// See ``CustomRegistrar/deregister(pin:)``.
    public func deregister(pin: PIN?) async throws(CountersignError) {
        try await enrollment.deregister(custom: name, pin: pin, authority: authority)
    }
}

/// An enrollment that waits to be approved.
public struct SDKWaitingDevice: WaitingDevice {
    private let enrollment: Enrollment

    /// A device that waits.
    public init(_ enrollment: Enrollment) {
        self.enrollment = enrollment
    }

    /// See ``WaitingDevice/waitingUntil()``.
    public func waitingUntil() async throws(CountersignError) -> Int64? {
        try await enrollment.refresh()?.milliseconds
    }

    /// See ``WaitingDevice/undo()``.
    public func undo() async throws(CountersignError) { try await enrollment.remove() }
}

extension FurtherDeviceModel {
    /// The screen of an enrollment that waits, also after its screen was closed or the app was started anew.
    ///
    /// After a start of the app it has no number, which the server tells once.
    ///
    /// - Parameters:
    ///   - enrollment: the enrollment.
    ///   - clock: paces the requests.
    /// - Returns: nil if it does not wait any more.
    /// - Throws: why the server could not be asked; or that the device was refused.
    public static func waiting(
        _ enrollment: Enrollment, clock: any PromptClock = SystemPromptClock()
    ) async throws(CountersignError) -> FurtherDeviceModel? {
        guard let until = try await enrollment.refresh() else { return nil }
        return FurtherDeviceModel(
            SDKWaitingDevice(enrollment), number: enrollment.approval?.number, activeFrom: until.milliseconds,
            clock: clock)
    }

    /// The screen of an enrollment that was just made, if it waits; nil if it need not wait.
    public convenience init?(_ enrollment: Enrollment, clock: any PromptClock = SystemPromptClock()) {
        guard let approval = enrollment.approval else { return nil }
        self.init(
            SDKWaitingDevice(enrollment), number: approval.number, activeFrom: approval.expiresAt.milliseconds,
            clock: clock)
    }
}

/// The devices of an enrollment's user.
public struct SDKDevices: DeviceDirectory {
    private let enrollment: Enrollment
    private let name: String

    /// The devices of an enrollment's user.
    ///
    /// - Parameters:
    ///   - enrollment: the enrollment of this device.
    ///   - name: what this device is called.
    public init(_ enrollment: Enrollment, named name: String) {
        self.enrollment = enrollment
        self.name = name
    }

    /// See ``DeviceDirectory/devices()``.
    public func devices() async throws(CountersignError) -> DeviceList {
        let others = try await enrollment.otherDevices()
        let methods = try await enrollment.methods()
        var own: [AnswerMethod] = []
        if methods.pin == .set { own.append(.pin) }
        if methods.hasBiometric { own.append(.biometric) }
        let this = DeviceRow(
            id: "\(enrollment.id)", name: name, isThisOne: true, methods: own.map { PromptMethod($0) },
            waitingMethods: DeviceRow.WaitingMethod.sorted(methods.waiting))
        // What does not count yet proves nothing; a biometric is asked for first, since nothing is typed.
        let proofs = own.reversed().filter { methods.waiting[$0] == nil }
        return DeviceList(
            rows: [this] + others.devices.map { DeviceRow($0) },
            proofs: others.needsMethod ? proofs.map { PromptMethod($0) } : [])
    }

    /// See ``DeviceDirectory/suspend(_:with:)``.
    public func suspend(_ id: String, with proof: Proof?) async throws(CountersignError) {
        try await enrollment.suspend(try Self.enrollmentID(id), with: proof)
    }

    /// See ``DeviceDirectory/resume(_:with:)``.
    public func resume(_ id: String, with proof: Proof?) async throws(CountersignError) {
        try await enrollment.resume(try Self.enrollmentID(id), with: proof)
    }

    /// See ``DeviceDirectory/remove(_:with:)``.
    public func remove(_ id: String, with proof: Proof?) async throws(CountersignError) {
        if id == "\(enrollment.id)" {
            try await enrollment.remove()
        } else {
            try await enrollment.remove(try Self.enrollmentID(id), with: proof)
        }
    }

    /// See ``DeviceDirectory/undo(_:of:)``.
    public func undo(_ method: String, of id: String) async throws(CountersignError) {
        guard let method = AnswerMethod(rawValue: method) else {
            throw .configurationInvalid("\"\(method)\" is no method")
        }
        try await enrollment.undo(method, of: try Self.enrollmentID(id))
    }

    private static func enrollmentID(_ id: String) throws(CountersignError) -> EnrollmentID {
        guard let id = EnrollmentID(id) else { throw .configurationInvalid("\"\(id)\" is no enrollment") }
        return id
    }
}

extension DeviceRow {
    fileprivate init(_ other: OtherDevice) {
        let standing: Standing =
            switch other.state {
            case .active: .active
            case .waiting: .waiting(until: other.waitingUntil?.milliseconds)
            case .suspended: .suspended
            }
        self.init(
            id: "\(other.enrollment)", name: other.device.name.text, standing: standing,
            enrolledAt: other.createdAt.milliseconds, methods: other.methods.map { PromptMethod($0) },
            waitingMethods: WaitingMethod.sorted(other.waiting))
    }
}

extension DeviceRow.WaitingMethod {
    fileprivate static func sorted(_ waiting: [AnswerMethod: Timestamp]) -> [DeviceRow.WaitingMethod] {
        waiting.map { method, time in
            DeviceRow.WaitingMethod(
                name: method.rawValue, method: PromptMethod(method), countsFrom: time.milliseconds)
        }
        .sorted { $0.name < $1.name }
    }
}

/// A sign-in by `OpenIDClient.signInElsewhere`.
///
/// Who signed in is known to the client afterwards.
public struct SDKElsewhereSignIn: ElsewhereSignIn {
    private let client: OpenIDClient
    private let loginHint: String?

    /// A sign-in.
    ///
    /// - Parameters:
    ///   - client: keeps the tokens.
    ///   - loginHint: whose devices are asked; nil for nobody's.
    public init(_ client: OpenIDClient, loginHint: String? = nil) {
        self.client = client
        self.loginHint = loginHint
    }

    /// See ``ElsewhereSignIn/signIn(showing:)``.
    public func signIn(
        showing show: @escaping @Sendable (WaitingNumber) async -> Void
    ) async throws(CountersignError) {
        _ = try await client.signInElsewhere(loginHint: loginHint) { prompt in
            await show(
                WaitingNumber(
                    number: prompt.number, userCode: prompt.userCode, page: prompt.verificationURI,
                    pageWithCode: prompt.verificationURIComplete, timeLeft: prompt.expiresIn))
        }
    }
}
