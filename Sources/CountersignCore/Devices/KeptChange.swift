import Encodings

/// The outcome of a change of methods or of an act on another device, as it is kept for repeats of the request.
enum KeptChange: Hashable {
    /// The change or act was made, and no hook was asked.
    case changed
    /// The authorization was made with a wrong PIN.
    case pinIncorrect
    /// A hook gave this verdict on a registration.
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
