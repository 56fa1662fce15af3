/// The result of one check by ``Doctor``.
package struct DiagnosticResult: Hashable, Sendable {
    /// How serious a result is.
    package enum State: String, Sendable {
        /// Nothing is wrong.
        case fine
        /// It works now, but may fail later.
        case warning
        /// It does not work, or it is not safe.
        case fault
    }

    /// The name of the check, which does not change, so scripts can rely on it.
    package let name: String
    package let state: State
    /// What the check has found.
    package let what: String
    /// What to do; nil if nothing is wrong.
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
