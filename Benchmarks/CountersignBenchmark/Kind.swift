import Countersign
import Encodings
import Foundation

/// A kind of cycle: how the portal asks and learns of the end, and how the user answers.
enum Kind: String, CaseIterable, Sendable {
    /// The portal asks and waits by long poll; the user confirms what the phone's poll has brought.
    case usual
    /// The same; the portal asks and waits in one request.
    case askAndWait = "ask and wait"
    /// The user types a PIN.
    case pin = "PIN"
    /// The user shows a face or a finger.
    case biometric
    /// A hook of the relying party judges what the user says.
    case custom
    /// The phone scans a code.
    case code
    /// The phone follows a link, and the browser comes back with a code.
    case link
    /// The portal learns of the end by a callback instead of a long poll.
    case callback

    /// The challenge types by name.
    ///
    /// A measurement that ends in the middle of a cycle leaves a user who did not answer,
    /// so they may be asked often.
    static let types: [(name: String, type: JSONValue)] = [
        ("payment", type([:])), ("typed", type(["methods": ["pin"]])), ("shown", type(["methods": ["biometric"]])),
        ("spoken", type(["methods": ["custom:phrase"]])), ("scanned", type(["qr": true])),
    ]

    private static func type(_ members: JSONObject) -> JSONValue {
        var type = members
        (type["max_asks"], type["max_pending"]) = (1000, 1000)
        return .object(type)
    }

    /// The name of its challenge type.
    private var type: String {
        switch self {
        case .usual, .askAndWait, .callback: "payment"
        case .pin: "typed"
        case .biometric: "shown"
        case .custom: "spoken"
        case .code, .link: "scanned"
        }
    }

    /// Whether the phone gets the challenge by its code.
    var isClaimed: Bool { self == .code || self == .link }

    /// How the user proves an approval.
    var proof: Proof {
        get throws {
            switch self {
            case .usual, .askAndWait, .callback, .code, .link: .confirmation
            case .pin: .pin(try PIN("835174"))
            case .biometric: .biometric(prompt: "Sign in")
            case .custom: .custom("phrase", data: "correct horse")
            }
        }
    }

    /// Sets up the method on a device that was just enrolled.
    func setUp(_ enrollment: Enrollment) async throws {
        switch self {
        case .usual, .askAndWait, .callback, .code, .link: break
        case .pin: try await enrollment.setPIN(try PIN("835174"))
        case .biometric: try await enrollment.registerBiometric(prompt: "Sign in")
        case .custom: try await enrollment.register(custom: "phrase", data: "correct horse")
        }
    }

    /// What the portal asks.
    func question(to user: String, calling receiver: Receiver) -> JSONValue {
        .members([
            "user": .string(user), "type": .string(type), "message": "Pay EUR 1,250.00 to ACME GmbH?",
            "details": [
                ["label": "Amount", "value": "EUR 1,250.00"], ["label": "Payee", "value": "ACME GmbH"],
            ],
            "return_uri": self == .link ? .string(receiver.url("/done")) : nil,
            "callback_uri": self == .callback ? .string(receiver.url("/callback")) : nil,
        ])
    }
}
