import Foundation
import TestSupport

/// A fault in a simulation.
package enum Fault: String, CaseIterable, Sendable {
    /// In a commit: nothing is written, and the caller gets the error that the database cannot be reached.
    case nothingWritten
    /// In a commit: it is written, but the caller gets the error that the database cannot be reached.
    case writtenUnheard
    /// In a commit: it clashes, so its body runs again.
    case runTwice
    /// In a commit: the node dies before it.
    case diesBefore
    /// In a commit: the node dies after it, without sending notifications.
    case diesAfter
    /// In a message: it does not arrive.
    case requestLost
    /// In a message: its reply does not arrive.
    case replyLost
    /// In a message: it arrives twice.
    case doubled
    /// In a message: it takes up to half a minute.
    case late
    /// At a moment: a node dies and restarts.
    case crash
    /// At a moment: a node cannot reach the database for a while.
    case partition
    /// At a moment: a node's clock is set back by five minutes, and corrected after a while.
    case clockBack
    /// At a moment: a node's clock is set ahead by an hour, and corrected after a while.
    case clockAhead
}

/// A point at which a fault is possible, by kind and number: a commit, a message or a moment.
package struct FaultPoint: Hashable, Sendable {
    /// The kinds of points, which are counted separately.
    package enum Kind: String, CaseIterable, Sendable {
        case commit, message, moment

        fileprivate var faults: [Fault] {
            switch self {
            case .commit: [.nothingWritten, .writtenUnheard, .runTwice, .diesBefore, .diesAfter]
            case .message: [.requestLost, .replyLost, .doubled, .late]
            case .moment: [.crash, .partition, .clockBack, .clockAhead]
            }
        }
    }

    package let kind: Kind
    package let number: Int
}

/// The faults of a run, by the points at which they happen; drawn from a seed or given.
///
/// Its text has one line for each fault: `commit 17 writtenUnheard`.
package struct FaultPlan: Sendable, CustomStringConvertible {
    /// How often faults happen, in thousandths of the commits, messages and moments.
    package struct Rates: Sendable {
        package var commit = 10
        package var message = 40
        package var moment = 120

        package init() {}

        /// No faults.
        package static let none: Rates = {
            var rates = Rates()
            (rates.commit, rates.message, rates.moment) = (0, 0, 0)
            return rates
        }()

        fileprivate func rate(of kind: FaultPoint.Kind) -> Int {
            switch kind {
            case .commit: commit
            case .message: message
            case .moment: moment
            }
        }
    }

    /// The faults in their order.
    package var faults: [(point: FaultPoint, fault: Fault)]

    package init(_ faults: [(point: FaultPoint, fault: Fault)]) {
        self.faults = faults
    }

    /// Parses a plan; nil if a line is malformed.
    package init?(_ text: String) {
        faults = []
        for line in text.split(whereSeparator: \.isNewline) where !line.hasPrefix("#") {
            let words = line.split(separator: " ")
            guard words.count == 3, let kind = FaultPoint.Kind(rawValue: String(words[0])), let number = Int(words[1]),
                let fault = Fault(rawValue: String(words[2]))
            else { return nil }
            faults.append((FaultPoint(kind: kind, number: number), fault))
        }
    }

    package var description: String {
        faults.map { "\($0.point.kind) \($0.point.number) \($0.fault)" }.joined(separator: "\n")
    }
}

/// Decides at each point whether a fault happens, and records the faults that did.
final class FaultSource {
    private enum Origin {
        case drawn(seed: UInt64, FaultPlan.Rates)
        case given([FaultPoint: Fault])
    }

    private let origin: Origin
    private var counts: [FaultPoint.Kind: Int] = [:]
    /// Whether faults can happen now.
    var isOn = true
    private(set) var happened = FaultPlan([])

    init(seed: UInt64, rates: FaultPlan.Rates) {
        origin = .drawn(seed: seed, rates)
    }

    init(_ plan: FaultPlan) {
        origin = .given(Dictionary(plan.faults.map { ($0.point, $0.fault) }) { $1 })
    }

    func next(_ kind: FaultPoint.Kind) -> Fault? {
        guard isOn else { return nil }
        let number = counts[kind, default: 0]
        counts[kind] = number + 1
        let point = FaultPoint(kind: kind, number: number)
        let fault: Fault?
        switch origin {
        case .given(let faults): fault = faults[point]
        case .drawn(let seed, let rates):
            // Each fault depends on the seed and its point only, so the others remain when one is left out.
            let kinds = UInt64(FaultPoint.Kind.allCases.firstIndex(of: kind) ?? 0)
            var chance = SeededGenerator(seed: seed &+ kinds << 56, of: number)
            let happens = Int.random(in: 0..<1000, using: &chance) < rates.rate(of: kind)
            fault = happens ? kind.faults.randomElement(using: &chance) : nil
        }
        if let fault { happened.faults.append((point, fault)) }
        return fault
    }
}
