import TestSupport

/// What shall become of a challenge.
enum Plan: CaseIterable, Sendable {
    case approve
    case deny
    case report
    /// The phone types another number than the one shown.
    case mistype
    /// Nobody answers.
    case ignore
    /// The phone approves what a link asks that it was led to, and the portal presents the code it comes back with.
    case link
    /// The phone approves while the portal takes it back.
    case cancel
    /// The phone approves by the user's PIN.
    case pin
    /// The phone approves by a wrong PIN first, which counts, and then by the right one.
    case wrongPIN
    /// The phone approves by what its shop judges by a hook.
    case custom
    /// No phone is asked: the user types the code of a text message into the portal.
    case text

    /// A plan, most often an approval.
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

    /// For how many seconds it may be answered: one that nobody answers shall not hold up the test.
    var lifetime: Int64 { self == .ignore ? 10 : 60 }

    /// The challenge type it is asked by.
    var type: String {
        switch self {
        case .approve, .deny, .report, .mistype, .ignore, .cancel: "payment"
        case .link: "qr"
        case .pin, .wrongPIN: "by-pin"
        case .custom: "by-phrase"
        case .text: "by-text"
        }
    }

    /// The method that its receipt names.
    var method: String {
        switch self {
        case .pin, .wrongPIN: "pin"
        case .custom: "custom:\(Shop.phrase)"
        case .approve, .deny, .report, .mistype, .ignore, .link, .cancel, .text: "confirm"
        }
    }

    /// What the reply to the portal has it show, or lead to.
    var showsNumber: Bool { self != .link && self != .text }

    /// The ends it may come to, if every part does what it should.
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

/// How a challenge stands, as somebody was told.
struct ToldEnd: Hashable, Sendable {
    let state: String
    let reason: String?

    static let approved = ToldEnd(state: "approved", reason: nil)

    /// Whether a device has answered, which leaves a receipt.
    func hasReceipt(of plan: Plan) -> Bool { plan != .text && (state == "approved" || state == "denied") }
}
