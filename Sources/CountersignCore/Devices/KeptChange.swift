import Encodings

/// What a change of methods, or an act on another device, came to, as it is kept for its repeats.
enum KeptChange: Hashable {
    /// It was made, and no hook was asked.
    case changed
    /// The PIN that should have authorized it was wrong.
    case pinIncorrect
    /// A hook has judged it so.
    case judged(HookVerdict)

    var kept: KeptForm {
        switch self {
        case .changed: KeptForm(["outcome": "changed"])
        case .pinIncorrect: KeptForm(["outcome": "pin_incorrect"])
        case .judged(let verdict): KeptForm(["verdict": verdict.json])
        }
    }

    init?(kept: KeptForm) {
        if let verdict = kept["verdict"] {
            guard let verdict = HookVerdict(verdict) else { return nil }
            self = .judged(verdict)
        } else {
            switch kept["outcome"]?.string {
            case "changed": self = .changed
            case "pin_incorrect": self = .pinIncorrect
            default: return nil
            }
        }
    }
}
