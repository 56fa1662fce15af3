/// One thing that ``Doctor`` looked at.
package struct DiagnosticResult: Hashable, Sendable {
    /// How it is.
    package enum State: String, Sendable {
        /// As it should be.
        case fine
        /// Works, and will not for ever.
        case warning
        /// Does not work, or is not safe.
        case fault
    }

    /// What was looked at; stable, for scripts.
    package let name: String
    /// How it is.
    package let state: State
    /// What was seen.
    package let what: String
    /// What to do; nil when it is fine.
    package let cure: String?

    static func fine(_ name: String, _ what: String) -> DiagnosticResult {
        DiagnosticResult(name: name, state: .fine, what: what, cure: nil)
    }

    static func warning(_ name: String, _ what: String, _ cure: String) -> DiagnosticResult {
        DiagnosticResult(name: name, state: .warning, what: what, cure: cure)
    }

    static func fault(_ name: String, _ what: String, _ cure: String) -> DiagnosticResult {
        DiagnosticResult(name: name, state: .fault, what: what, cure: cure)
    }
}
