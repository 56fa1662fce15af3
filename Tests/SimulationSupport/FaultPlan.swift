import Foundation
import TestSupport

/// What goes wrong in a simulated world.
package enum Fault: String, CaseIterable, Sendable {
    /// Of a commit: nothing is written, and the caller is told that the database cannot be reached.
    case nothingWritten
    /// Of a commit: it is written, and the caller is told that the database cannot be reached.
    case writtenUnheard
    /// Of a commit: it clashes, so that its body runs again.
    case runTwice
    /// Of a commit: the node dies before it.
    case diesBefore
    /// Of a commit: the node dies after it, and tells nobody.
    case diesAfter
    /// Of a message: it does not arrive.
    case requestLost
    /// Of a message: its reply does not arrive.
    case replyLost
    /// Of a message: it arrives twice.
    case doubled
    /// Of a message: it takes up to half a minute.
    case late
    /// Of an hour: a node dies and comes back.
    case crash
    /// Of an hour: a node cannot reach the database for a while.
    case partition
    /// Of an hour: a node's clock is set back by five minutes, and right again after a while.
    case clockBack
    /// Of an hour: a node's clock is set ahead by an hour, and right again after a while.
    case clockAhead
}

/// A place where something can go wrong: the so-manieth commit, message, or look at the world.
package struct FaultPoint: Hashable, Sendable {
    /// What is counted.
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

/// What goes wrong when: drawn from a seed, or given.
///
/// As text, a line for each: `commit 17 writtenUnheard`.
package struct FaultPlan: Sendable, CustomStringConvertible {
    /// How often something goes wrong, in thousandths of the commits, messages and moments.
    package struct Rates: Sendable {
        package var commit = 10
        package var message = 40
        package var moment = 120

        package init() {}

        /// Nothing goes wrong.
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

    /// What there is to go wrong, in order.
    package var faults: [(point: FaultPoint, fault: Fault)]

    package init(_ faults: [(point: FaultPoint, fault: Fault)]) {
        self.faults = faults
    }

    /// Nil where a line is none.
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

/// Says at each place whether something goes wrong, and keeps what did.
final class FaultSource {
    private enum Origin {
        case drawn(seed: UInt64, FaultPlan.Rates)
        case given([FaultPoint: Fault])
    }

    private let origin: Origin
    private var counts: [FaultPoint.Kind: Int] = [:]
    /// Whether anything goes wrong from now on.
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
            // Each from the seed alone: where one is left out, the others stay.
            let kinds = UInt64(FaultPoint.Kind.allCases.firstIndex(of: kind) ?? 0)
            var chance = SeededGenerator(seed: seed &+ kinds << 56, of: number)
            let happens = Int.random(in: 0..<1000, using: &chance) < rates.rate(of: kind)
            fault = happens ? kind.faults.randomElement(using: &chance) : nil
        }
        if let fault { happened.faults.append((point, fault)) }
        return fault
    }
}
