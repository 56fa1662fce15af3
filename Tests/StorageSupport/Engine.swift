/// The databases that must keep the same promises; tests of the storage contract run on each.
package enum Engine: String, CaseIterable, Sendable, CustomStringConvertible {
    /// The embedded database.
    case sqlite

    /// The engine's name, for a failing test.
    package var description: String { rawValue }
}
