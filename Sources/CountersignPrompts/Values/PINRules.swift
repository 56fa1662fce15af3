import CountersignWire

/// The rules for a PIN, which the server sets.
public struct PINRules: Hashable, Sendable {
    /// The rules of a server that has set none.
    public static let standard = PINRules(.standard)

    /// A rule that a PIN breaks.
    public enum Breach: Hashable, Sendable {
        /// It has too few digits or too many.
        case length(ClosedRange<Int>)
        /// One digit stands in it more often than this.
        case repeats(Int)
        /// Its digits simply follow one another.
        case sequence
        /// It is one of those that too many people choose.
        case common
    }

    private let policy: PINPolicy

    init(_ policy: PINPolicy) {
        self.policy = policy
    }

    /// How many digits it has.
    public var length: ClosedRange<Int> { policy.minimumLength...policy.maximumLength }
    /// How often one digit may stand in it.
    public var maximumRepeats: Int { policy.maximumRepeats }
    /// Whether its digits may simply follow one another.
    public var allowsSequences: Bool { policy.allowsSequences }

    /// The rule that a PIN breaks; nil if it can be set.
    public func breach(of digits: String) -> Breach? {
        guard PINPolicy.isPIN(digits) else { return .length(length) }
        do throws(PINViolation) {
            try policy.check(digits)
            return nil
        } catch {
            switch error {
            case .length: return .length(length)
            case .repeats: return .repeats(maximumRepeats)
            case .sequence: return .sequence
            case .blocked: return .common
            }
        }
    }
}

extension PINRules.Breach {
    /// What is said of it.
    func text(_ texts: PromptTexts) -> String {
        switch self {
        case .length(let range) where range.lowerBound == range.upperBound:
            texts.text(.breaksExactLength, ["count": "\(range.lowerBound)"])
        case .length(let range):
            texts.text(.breaksLength, ["least": "\(range.lowerBound)", "most": "\(range.upperBound)"])
        case .repeats(let most): texts.text(.breaksRepeats, orOnce: .breaksRepeatsOnce, count: most)
        case .sequence: texts.text(.breaksSequence)
        case .common: texts.text(.breaksCommon)
        }
    }
}
