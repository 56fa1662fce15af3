import Foundation

/// The colours of what the tool writes.
enum TerminalColours {
    /// Whether what is written to an open file has colours: a terminal shows it, and the user does not refuse them.
    ///
    /// See <https://no-color.org>: `NO_COLOR` refuses them unless it is empty.
    ///
    /// - Parameters:
    ///   - file: the number of the file.
    ///   - environment: the environment of the tool.
    static func areShown(
        in file: Int32, environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> Bool {
        areShown(onTerminal: isatty(file) == 1, environment: environment)
    }

    /// Whether there are colours, on a terminal or elsewhere.
    static func areShown(onTerminal isTerminal: Bool, environment: [String: String]) -> Bool {
        isTerminal && environment["NO_COLOR"]?.isEmpty != false
    }
}
