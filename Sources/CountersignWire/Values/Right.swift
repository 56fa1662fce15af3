/// What a client may do.
///
/// Spec: docs/protocol/relying-party.md, *Authentication*.
package enum Right: String, CaseIterable, Sendable {
    /// Ask, watch and cancel challenges, and fetch receipts.
    case challenges
    /// Make, change and unlink users.
    case users
    /// Make tickets and remove devices.
    case enrollments
}
