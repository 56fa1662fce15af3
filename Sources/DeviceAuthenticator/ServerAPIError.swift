public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// What came back of a request that the server refused.
public final class HTTPURLResult: NSObject, Sendable {
    /// The HTTP status of the response, or the one that fits where no single response has it.
    public let statusCode: Int
    private let url: URL?

    init(statusCode: Int, from url: URL?) {
        self.statusCode = statusCode
        self.url = url
    }

    /// Always nil: a request of the device is signed, and not to be repeated by others.
    public var request: URLRequest? { nil }

    /// The response: its status, from the server's base URL.
    public var response: HTTPURLResponse? {
        url.flatMap { HTTPURLResponse(url: $0, statusCode: statusCode, httpVersion: nil, headerFields: nil) }
    }

    /// Always nil: what the server said is in ``ServerAPIErrorModel``.
    public var data: Data? { nil }

    /// Always nil: an error of the network is ``DeviceAuthenticatorError/networkError(_:)``.
    public var error: (any Error)? { nil }
}

/// What the server said of its refusal.
public struct ServerAPIErrorModel: Codable, Sendable {
    /// The kind of refusal.
    public let errorCode: ServerErrorCode?
    /// What happened, and what to do about it.
    public let errorSummary: String?
    /// Always nil.
    public let errorLink: String?
    /// The id by which the request is found in the server's log; nil where the server named none.
    public let errorId: String?
    /// Always nil.
    public let status: String?
    /// Always nil.
    public let errorCauses: [[String: String]]?
}

/// The kind of a refusal, in the vendor's numbers.
public enum ServerErrorCode: Equatable, Sendable {
    /// A sign-in was started by a phisher; this server does not say so.
    case phishingAttemptDetected
    /// The enrollment was removed by somebody else than its user.
    case enrollmentDeleted
    /// The user's account is no longer on this device.
    case userDeleted
    /// The enrollment was ended on this device, or a newer device has replaced it.
    case deviceDeleted
    /// The enrollment is suspended.
    case enrollmentSuspended
    /// The device is suspended; this server suspends enrollments.
    case deviceSuspended
    /// The user is suspended; this server suspends enrollments.
    case userSuspended
    /// There is no such thing.
    case resourceNotFound
    /// The server does not know the enrollment.
    case enrollmentNotFound
    /// The enrollment lacks biometrics; this server asks for them with each question.
    case biometricKeyEnrollmentComplianceError
    /// The access token is not good.
    case invalidToken
    /// Another refusal: its code at this server, such as `ticket_used`.
    case unknown(String)

    private static let known: [(code: ServerErrorCode, text: String, status: Int)] = [
        (.phishingAttemptDetected, "E0000212", 403), (.enrollmentDeleted, "E0000154", 410),
        (.userDeleted, "E0000156", 410), (.deviceDeleted, "E0000153", 410), (.enrollmentSuspended, "E0000180", 423),
        (.deviceSuspended, "E0000152", 403), (.userSuspended, "E0000155", 423), (.resourceNotFound, "E0000007", 404),
        (.enrollmentNotFound, "E0000008", 404), (.biometricKeyEnrollmentComplianceError, "E0000158", 400),
        (.invalidToken, "E0000011", 400),
    ]

    /// Reads a code.
    public init(raw: String) {
        self = Self.known.first { $0.text == raw }?.code ?? .unknown(raw)
    }

    /// The code as a text.
    public var rawValue: String {
        if case .unknown(let text) = self { return text }
        return Self.known.first { $0.code == self }?.text ?? ""
    }

    /// Whether it says that an enrollment, a device or a user is gone.
    public var isResourceDeleted: Bool {
        switch self {
        case .enrollmentDeleted, .userDeleted, .deviceDeleted, .enrollmentNotFound: true
        default: false
        }
    }

    /// Whether it says that an enrollment, a device or a user is suspended.
    public var isResourceSuspended: Bool {
        switch self {
        case .enrollmentSuspended, .deviceSuspended, .userSuspended: true
        default: false
        }
    }

    /// The status that the vendor's server sends with it; that of this server's response is in ``HTTPURLResult``.
    public func httpCode() -> Int {
        Self.known.first { $0.code == self }?.status ?? 400
    }
}

extension ServerErrorCode: Codable {
    /// Reads a code.
    public init(from decoder: any Decoder) throws {
        self.init(raw: try decoder.singleValueContainer().decode(String.self))
    }

    /// Writes a code.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}
