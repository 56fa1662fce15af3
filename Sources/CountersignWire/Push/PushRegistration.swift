public import Encodings

/// An app's identifier at push services: its bundle identifier or package name, of 1 to 155 letters, digits, dots, `-`
/// and `_`.
public struct AppID: Hashable, Sendable, CustomStringConvertible {
    /// The name.
    public let description: String

    /// Reads a name, or nil.
    public init?(_ text: some StringProtocol) {
        guard (1...155).contains(text.utf8.count),
            text.utf8.allSatisfy({
                $0.isLetterOrDigit || [UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_")].contains($0)
            })
        else { return nil }
        description = String(text)
    }
}

/// The service that delivers a push notification.
public enum PushService: Hashable, Sendable {
    /// Apple Push Notification service; the value says which of its two environments knows the device.
    case apns(APNsEnvironment)
    /// Firebase Cloud Messaging.
    case fcm
    /// The server itself, to a program on its own machine; only in development mode.
    case local

    /// The service of this name, with the environment for APNs; nil when there is none.
    public init?(name: String, environment: APNsEnvironment?) {
        switch (name, environment) {
        case ("apns", let environment?): self = .apns(environment)
        case ("fcm", nil): self = .fcm
        case ("local", nil): self = .local
        default: return nil
        }
    }

    /// `apns`, `fcm` or `local`.
    public var name: String {
        switch self {
        case .apns: "apns"
        case .fcm: "fcm"
        case .local: "local"
        }
    }

    /// The environment of APNs; nil for another service.
    public var environment: APNsEnvironment? {
        if case .apns(let environment) = self { environment } else { nil }
    }
}

/// The two environments of Apple Push Notification service.
public enum APNsEnvironment: String, Sendable, CaseIterable {
    /// For apps from the store.
    case production
    /// For apps that a developer runs.
    case development
}

/// The address at which a program on the server's own machine takes pushes: `PORT:PATH`, where the path is 32 to 64
/// hexadecimal digits that nobody else knows.
public struct LocalPushAddress: Sendable, CustomStringConvertible {
    /// The port on the loopback address.
    public let port: UInt16
    /// The path, without its leading slash.
    public let path: String

    /// An address of these parts, or nil when the path could be guessed.
    public init?(port: UInt16, path: String) {
        guard port > 0, (32...64).contains(path.utf8.count), path.utf8.allSatisfy(\.isHexDigit) else { return nil }
        self.port = port
        self.path = path
    }

    /// Reads an address, or nil.
    public init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let port = UInt16(parts[0]) else { return nil }
        self.init(port: port, path: String(parts[1]))
    }

    /// The address as a token.
    public var description: String { "\(port):\(path)" }
}

/// How push notifications reach an app on a device.
public struct PushRegistration: Sendable {
    /// The service that delivers.
    public let service: PushService
    /// The app.
    public let app: AppID
    /// The service's token for the app on this device; it is personal, and never in a log.
    public let token: Secret<String>

    /// The permitted services, for the error message.
    public static let services = "\"apns\" or \"fcm\""

    /// A registration; nil when the token does not have the service's form.
    ///
    /// For APNs the token is 2 to 400 hexadecimal digits, an even number; Apple says not to rely on a length. For FCM
    /// it is 1 to 4096 letters, digits, `_`, `-` and `:`. For a program on the server's machine it is the program's
    /// port and path, 32 to 64 hexadecimal digits, with a colon between them.
    public init?(service: PushService, app: AppID, token: Secret<String>) {
        let text = token.reveal().utf8
        switch service {
        case .apns:
            guard (2...400).contains(text.count), text.count.isMultiple(of: 2), text.allSatisfy(\.isHexDigit) else {
                return nil
            }
        case .local:
            guard let address = LocalPushAddress(token.reveal()), "\(address)" == token.reveal() else { return nil }
        case .fcm:
            let others = [UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: ":")]
            guard (1...4096).contains(text.count), text.allSatisfy({ $0.isLetterOrDigit || others.contains($0) }) else {
                return nil
            }
        }
        self.service = service
        self.app = app
        self.token = token
    }

    /// The registration as JSON, with the token.
    public var json: JSONValue {
        .members([
            "service": .string(service.name), "app": .string("\(app)"),
            "environment": service.environment.map { .string($0.rawValue) }, "token": .string(token.reveal()),
        ])
    }

    /// Reads a registration at a JSON pointer.
    public init(_ json: JSONValue, at pointer: String) throws(JSONShapeError) {
        var members = try JSONMembers(json, at: pointer)
        let name = try members.required("service", Self.services) { value in
            value.string.flatMap { ["apns", "fcm", "local"].contains($0) ? $0 : nil }
        }
        let app = try members.required("app", "a bundle identifier or package name") { $0.string.flatMap { AppID($0) } }
        let service: PushService =
            switch name {
            case "fcm": .fcm
            case "local": .local
            default:
                .apns(
                    try members.required("environment", "\"production\" or \"development\"") {
                        $0.string.flatMap(APNsEnvironment.init(rawValue:))
                    })
            }
        let registration = try members.required("token", "a token of the service") {
            $0.string.flatMap { PushRegistration(service: service, app: app, token: Secret($0)) }
        }
        try members.refuseUnknown()
        self = registration
    }
}

extension UInt8 {
    /// Whether it is an ASCII digit.
    package var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    /// Whether it is an ASCII letter in lower case.
    package var isLowercaseLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) }

    /// Whether it is an ASCII letter or digit.
    package var isLetterOrDigit: Bool {
        isLowercaseLetter || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) || isDigit
    }

    /// Whether a URI may contain it as it is, wherever it stands.
    ///
    /// Spec: RFC 3986 §2.3.
    package var isUnreserved: Bool { isLetterOrDigit || "-._~".utf8.contains(self) }

    /// Whether it is an ASCII digit of a hexadecimal number, in upper or lower case.
    package var isHexDigit: Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self) || (UInt8(ascii: "A")...UInt8(ascii: "F")).contains(self)
            || isDigit
    }
}
