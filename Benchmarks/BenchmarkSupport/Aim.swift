import ArgumentParser
import Foundation

/// A limit that the project has set itself, and what was measured.
package struct Aim: Sendable {
    /// What is limited, such as "server CPU a cycle".
    package let name: String
    /// The figure as text, with its unit.
    package let figure: String
    /// The limit as text, with its unit.
    package let limit: String
    package let isReached: Bool

    /// An aim that a figure must not exceed.
    package static func atMost(_ limit: Double, _ unit: String, _ name: String, _ figure: Double) -> Aim {
        Aim(
            name: name, figure: "\(short(figure)) \(unit)", limit: "at most \(short(limit)) \(unit)",
            isReached: figure <= limit)
    }

    /// An aim that a figure must reach.
    package static func atLeast(_ limit: Double, _ unit: String, _ name: String, _ figure: Double) -> Aim {
        Aim(
            name: name, figure: "\(short(figure)) \(unit)", limit: "at least \(short(limit)) \(unit)",
            isReached: figure >= limit)
    }

    private static func short(_ number: Double) -> String {
        abs(number) >= 100 ? String(format: "%.0f", number) : String(format: "%.2f", number)
    }

    /// One line, which `scripts/bench` gathers.
    package var text: String { "Aim: \(name): \(figure), \(limit): \(isReached ? "reached" : "NOT reached")" }
}

extension [Aim] {
    /// Prints the aims; ends the program when one is missed.
    package func check() throws {
        for aim in self { print(aim.text) }
        if !allSatisfy(\.isReached) { throw ExitCode(missedAim) }
    }
}
