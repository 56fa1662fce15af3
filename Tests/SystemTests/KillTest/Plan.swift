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

    /// A plan, most often an approval.
    static func random(using generator: inout SeededGenerator) -> Plan {
        switch Int.random(in: 0..<100, using: &generator) {
        case ..<70: .approve
        case ..<78: .deny
        case ..<82: .report
        case ..<88: .mistype
        case ..<90: .ignore
        case ..<94: .link
        default: .cancel
        }
    }

    /// For how many seconds it may be answered: one that nobody answers shall not hold up the test.
    var lifetime: Int64 { self == .ignore ? 10 : 60 }

    /// The challenge type it is asked by.
    var type: String { self == .link ? "qr" : "payment" }

    /// The ends it may come to, if every part does what it should.
    var ends: Set<Standing> {
        let cancelled = Standing(state: "cancelled", reason: nil)
        return switch self {
        case .approve: [.approved]
        case .deny: [Standing(state: "denied", reason: "declined")]
        case .report: [Standing(state: "denied", reason: "reported")]
        case .mistype: [Standing(state: "failed", reason: "wrong_number")]
        case .ignore: [Standing(state: "expired", reason: nil)]
        case .link, .cancel: [.approved, cancelled]
        }
    }
}

/// How a challenge stands, as somebody was told.
struct Standing: Hashable, Sendable {
    let state: String
    let reason: String?

    static let approved = Standing(state: "approved", reason: nil)

    /// Whether it has an answer with a receipt.
    var hasReceipt: Bool { state == "approved" || state == "denied" }
}
