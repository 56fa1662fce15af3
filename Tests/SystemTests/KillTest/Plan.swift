import TestSupport

/// What should happen with a challenge.
enum Plan: CaseIterable, Sendable {
    case approve
    case deny
    case report
    /// The phone enters another number than the shown one.
    case mistype
    /// It gets no answer.
    case ignore
    /// The phone approves a link, and the portal presents the return code.
    case link
    /// The phone approves while the portal cancels the challenge.
    case cancel
    /// The phone approves with the user's PIN.
    case pin
    /// The phone enters a wrong PIN, which is counted, and then the right one.
    case wrongPIN
    /// The phone approves by the custom authenticator, which a hook of the shop judges.
    case custom
    /// No phone is asked: the user enters the code of a text message into the portal.
    case text

    /// A random plan; approvals are the most frequent.
    static func random(using generator: inout SeededGenerator) -> Plan {
        switch Int.random(in: 0..<100, using: &generator) {
        case ..<50: .approve
        case ..<58: .deny
        case ..<62: .report
        case ..<68: .mistype
        case ..<70: .ignore
        case ..<74: .link
        case ..<80: .cancel
        case ..<86: .pin
        case ..<90: .wrongPIN
        case ..<95: .custom
        default: .text
        }
    }

    /// How long the challenge may be answered, in seconds.
    ///
    /// It is short for a challenge without an answer, so that the test need not wait. For the others it is longer than
    /// the phones' pauses: on a slow machine the server is down for half of the time, and a phone that has failed to
    /// reach it eight times in a row, and then again, asks next after 30 s each time. It is longest for a text message,
    /// which a server on a full disk writes only after several attempts.
    var lifetime: Int64 {
        switch self {
        case .ignore: 10
        case .text: 600
        default: 180
        }
    }

    var type: String {
        switch self {
        case .approve, .deny, .report, .mistype, .ignore, .cancel: "payment"
        case .link: "qr"
        case .pin, .wrongPIN: "by-pin"
        case .custom: "by-phrase"
        case .text: "by-text"
        }
    }

    /// The method that the receipt or the outcome names.
    var method: String {
        switch self {
        case .pin, .wrongPIN: "pin"
        case .custom: "custom:\(Shop.phrase)"
        case .approve, .deny, .report, .mistype, .ignore, .link, .cancel, .text: "confirm"
        }
    }

    /// Whether the portal shows a number.
    var showsNumber: Bool { self != .link && self != .text }

    /// The ends that are possible if every part works.
    var ends: Set<ToldEnd> {
        let cancelled = ToldEnd(state: "cancelled", reason: nil)
        return switch self {
        case .approve, .pin, .wrongPIN, .custom, .text: [.approved]
        case .deny: [ToldEnd(state: "denied", reason: "declined")]
        case .report: [ToldEnd(state: "denied", reason: "reported")]
        case .mistype: [ToldEnd(state: "failed", reason: "wrong_number")]
        case .ignore: [ToldEnd(state: "expired", reason: nil)]
        case .link, .cancel: [.approved, cancelled]
        }
    }
}

/// The end of a challenge, as a party was told.
struct ToldEnd: Hashable, Sendable {
    let state: String
    let reason: String?

    static let approved = ToldEnd(state: "approved", reason: nil)

    /// Whether a device has answered, so that there is a receipt.
    func hasReceipt(of plan: Plan) -> Bool { plan != .text && (state == "approved" || state == "denied") }
}
