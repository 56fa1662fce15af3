import CountersignWire
import Encodings
public import Foundation
import JOSE
import OpenPGP

/// The app's description of itself and of the device, as the server receives it.
public struct AppDescription: Sendable {
    /// The app's name.
    public let name: String
    /// Its version.
    public let version: String
    /// The user's name for the device.
    public let deviceName: String
    /// The device's model.
    public let model: String?
    /// The operating system and its version.
    public let system: String?

    /// A description of these parts.
    public init(name: String, version: String, deviceName: String, model: String? = nil, system: String? = nil) {
        self.name = name
        self.version = version
        self.deviceName = deviceName
        self.model = model
        self.system = system
    }
}

/// What entitles a device to enroll.
public enum EnrollmentAuthority: Sendable {
    /// The text of a QR code with a ticket.
    case ticket(String)
    /// An access token of the person, who has signed in with the scope `enroll` less than ten minutes ago.
    ///
    /// Each sign-in enrolls one device. Spec: docs/protocol/enrollment.md, *An invitation for an access token*.
    case accessToken(AccessToken)
}

/// The device's side of Countersign: enrolls the device, receives challenges, and answers them.
///
/// Make one for each issuer. It is safe to use from any task or thread.
public final class Authenticator: Sendable {
    let app: AppDescription
    let returnSchemes: Set<String>
    let vault: any Vault
    let connection: Connection
    let roster = EnrollmentRegistry()
    let inbox = Inbox()

    /// Opens the device's keys and records.
    ///
    /// - Parameters:
    ///   - issuer: the server's public base URL.
    ///   - app: the description that the server receives.
    ///   - vault: stores keys and records.
    ///   - transport: sends requests.
    ///   - clock: the device's clock.
    ///   - returnSchemes: URL schemes, such as `com.example.shop`, of apps to which the user may return after an
    ///     approval by a link; `https` is always allowed. Another app on the device can claim a scheme, and is then
    ///     opened instead.
    /// - Throws: ``CountersignError/vault(_:)``, or `.notHandleable` when the issuer is not a URL of one.
    public init(
        issuer: URL, app: AppDescription, vault: any Vault, transport: any Transport = URLSessionTransport(),
        clock: any DeviceClock = SystemClock(), returnSchemes: Set<String> = []
    ) async throws(CountersignError) {
        guard let issuer = Issuer(issuer.absoluteString) else {
            throw .notHandleable(reason: "the issuer must be https://host, or http on a loopback host")
        }
        self.app = app
        self.returnSchemes = returnSchemes
        self.vault = vault
        connection = Connection(issuer: issuer, transport: transport, clock: clock)
        for stored in try await Self.stored(in: vault) where stored.issuer == issuer { await roster.add(stored) }
    }

    /// The issuers of the enrollments in a vault, each once.
    ///
    /// For an app that is told its issuer by a sign-in, and is started again without one.
    ///
    /// - Throws: ``CountersignError/vault(_:)``.
    public static func issuers(in vault: any Vault) async throws(CountersignError) -> [URL] {
        Set(try await stored(in: vault).map(\.issuer.description)).sorted().compactMap { URL(string: $0) }
    }

    private static func stored(in vault: any Vault) async throws(CountersignError) -> [StoredEnrollment] {
        var all: [StoredEnrollment] = []
        for id in try await vaulted({ try await vault.enrollments(with: StoredEnrollment.record) }) {
            guard let bytes = try await vaulted({ try await vault.record(StoredEnrollment.record, of: id) }) else {
                continue
            }
            all.append(try StoredEnrollment(bytes))
        }
        return all
    }

    /// The enrollments on this device, oldest first.
    public var enrollments: [Enrollment] {
        get async { await roster.all.map { Enrollment(id: $0.id, authenticator: self, stored: $0) } }
    }

    /// The state of the connection to the server.
    public var connectionState: ConnectionState {
        get async { await connection.state }
    }

    /// The state of the connection to the server: the current one, then every change.
    public var connectionStates: AsyncStream<ConnectionState> {
        get async { await connection.states() }
    }

    /// The time, in milliseconds since 1970, corrected by the server's: by it challenges expire.
    public var millisecondsSince1970: Int64 {
        get async { await connection.now.milliseconds }
    }

    /// Deletes an enrollment from the device, its keys first.
    func forget(_ id: EnrollmentID) async throws(CountersignError) {
        try await vaulted { try await self.vault.removeAll(of: id) }
        await roster.remove(id)
    }

    /// Sends a signed request for an enrollment; a notice of removal that the server signed wipes the enrollment.
    func send(
        _ method: String, _ path: String, body: JSONValue? = nil, for stored: StoredEnrollment, waiting: Int64 = 0
    ) async throws(CountersignError) -> TransportResponse {
        guard let key = try await vaulted({ try await self.vault.signingKey(.authentication, of: stored.id) }) else {
            throw .notEnrolled
        }
        let signer = Connection.Signer(keyID: "\(stored.id)", key: key)
        do {
            return try await connection.send(method, path, body: body, signer: signer, waiting: waiting)
        } catch .server(let problem) {
            throw try await learn(problem, about: stored)
        }
    }

    private func learn(
        _ problem: ProblemDetails, about stored: StoredEnrollment
    ) async throws(CountersignError) -> CountersignError {
        switch problem.knownCode {
        case .deviceDeregistered:
            // Only a notice that the server signed for this very enrollment wipes anything.
            guard let text = problem["notice"]?.string, let notice = await notice(text, about: stored) else {
                return .server(problem)
            }
            try await forget(stored.id)
            return .deviceDeregistered(Removal(notice))
        case .unknownEnrollment: return .enrollmentUnknown
        case .challengeNotFound: return .challengeNotFound
        case .pinIncorrect: return .pinIncorrect(attemptsLeft: Int(problem["attempts_left"]?.integer ?? 0))
        case .pinLocked: return .pinLocked
        case .customRetry:
            let attemptsLeft = problem["attempts_left"]?.integer.map { Int(clamping: $0) }
            return .customRetry(attemptsLeft: attemptsLeft, payload: problem["payload"]?.string)
        case .customFailed: return .customFailed(payload: problem["payload"]?.string)
        case .customNotRegistered: return .customNotRegistered
        case .customUnavailable: return .customUnavailable
        case .changeNotAuthorized:
            switch problem["needs"]?.string {
            case "ticket": return .authorityNeeded
            case "method": return .methodNeeded
            case "biometric": return .biometric(.notRegistered)
            default: return .pinRequired
            }
        case .codeInvalid: return .codeRefused(.invalid)
        case .codeExpired: return .codeRefused(.expired)
        case .alreadyClaimed: return .codeRefused(.alreadyClaimed)
        case .userNotLinked: return .userNotLinked
        case .enrollmentNotConfirmed: return .enrollmentNotConfirmed
        case .pushTokenInUse: return .pushTokenInUse
        case .enrollmentWaiting: return .enrollmentWaiting
        case .enrollmentSuspended: return .enrollmentSuspended
        case .methodMissing:
            let names = problem["methods"]?.array?.compactMap(\.string) ?? []
            return .methodMissing(names.compactMap(AnswerMethod.init(rawValue:)))
        case .alreadyEnded:
            return CountersignError(ended: problem["state"]?.string ?? "ended", reason: problem["reason"]?.string)
        default: return .server(problem)
        }
    }
}

extension Authenticator {
    /// The server's notice of an enrollment's removal; nil unless one of its keys has signed it.
    private func notice(_ text: String, about stored: StoredEnrollment) async -> RemovalNotice? {
        let now = await connection.now.adding(seconds: allowedSkew).unixSeconds
        func notice(_ certificate: Certificate) -> RemovalNotice? {
            RemovalNotice(
                verifying: text, issuer: stored.issuer, enrollment: stored.id, certificate: certificate, now: now)
        }
        if let notice = notice(await serverCertificate(of: stored)) { return notice }
        guard let certificate = try? await refreshedServerCertificate(of: stored) else { return nil }
        return notice(certificate)
    }
}

extension CountersignError {
    /// The error for a challenge that has ended before.
    init(ended state: String, reason: String?) {
        switch state {
        case "approved", "denied": self = .alreadyAnswered
        case "expired": self = .challengeExpired
        default: self = .challengeEnded(state: state, reason: reason)
        }
    }
}

/// How far the corrected clock may differ from the server's, in seconds.
let allowedSkew: Int64 = 60

/// Runs an operation of the vault, and turns its errors into those of the SDK.
func vaulted<Result: Sendable>(
    _ body: @Sendable () async throws -> Result
) async throws(CountersignError) -> Result {
    do {
        return try await body()
    } catch let error as CountersignError {
        throw error
    } catch let failure as BiometricFailure {
        throw .biometric(failure)
    } catch {
        throw .vault("\(error)")
    }
}

/// The enrollments of one authenticator, and the streams that report their changes.
actor EnrollmentRegistry {
    /// When keys were fetched last, and the fetches under way.
    var fetched: [ServerKeys: Timestamp] = [:]
    var fetching: [ServerKeys: Task<CountersignError?, Never>] = [:]
    /// The app's push registration, once the app has set it; nil if pushes are switched off.
    private(set) var push: PushRegistration?
    private var enrollments: [StoredEnrollment] = []
    private var changing: Set<EnrollmentID> = []
    private var listeners: [Int: AsyncStream<[StoredEnrollment]>.Continuation] = [:]
    private var next = 0

    var all: [StoredEnrollment] { enrollments }

    subscript(id: EnrollmentID) -> StoredEnrollment? { enrollments.first { $0.id == id } }

    /// Begins a change of the enrollment's methods; false while another change is under way.
    func startsChange(of id: EnrollmentID) -> Bool { changing.insert(id).inserted }

    func endChange(of id: EnrollmentID) { changing.remove(id) }

    func reach(by registration: PushRegistration?) {
        push = registration
    }

    func add(_ enrollment: StoredEnrollment) {
        enrollments.removeAll { $0.id == enrollment.id }
        enrollments.append(enrollment)
        enrollments.sort { $0.id < $1.id }
        tell()
    }

    /// Changes the record of an enrollment and returns the changed record; nil if the enrollment is gone.
    func update(_ id: EnrollmentID, _ change: @Sendable (inout StoredEnrollment) -> Void) -> StoredEnrollment? {
        guard let index = enrollments.firstIndex(where: { $0.id == id }) else { return nil }
        change(&enrollments[index])
        return enrollments[index]
    }

    func remove(_ id: EnrollmentID) {
        enrollments.removeAll { $0.id == id }
        tell()
    }

    /// The enrollments: the current list, then every change.
    func changes() -> AsyncStream<[StoredEnrollment]> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: [StoredEnrollment].self, bufferingPolicy: .bufferingNewest(1))
        next += 1
        let number = next
        listeners[number] = continuation
        continuation.onTermination = { _ in Task { await self.drop(number) } }
        continuation.yield(enrollments)
        return stream
    }

    private func drop(_ number: Int) {
        listeners[number] = nil
    }

    private func tell() {
        for listener in listeners.values { listener.yield(enrollments) }
    }
}
