import CountersignStorage
import Foundation

/// Runs the command that prints the master key.
enum KeyCommand {
    /// The output of a command without surrounding white space; its error output goes to the server's.
    ///
    /// - Parameters:
    ///   - command: a command for the shell.
    ///   - deadline: how long it may take. A running server reads its key again now and then, and must not hang.
    /// - Throws: ``StartError`` if the command cannot be run, fails, or takes too long; it is then killed.
    static func run(_ command: String, within deadline: Duration = .seconds(30)) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", command]
        process.standardInput = FileHandle.nullDevice
        let output = Pipe()
        process.standardOutput = output
        do {
            try process.run()
        } catch {
            throw StartError("`\(command)`, which master_key_command names, cannot be run.")
        }
        guard let printed = data(of: output.fileHandleForReading, until: .now + deadline) else {
            kill(process.processIdentifier, SIGKILL)
            throw StartError(
                "`\(command)`, which master_key_command names, was not done after \(deadline.components.seconds) s.")
        }
        process.waitUntilExit()
        guard process.terminationReason == .exit, process.terminationStatus == 0 else {
            throw StartError("`\(command)`, which master_key_command names, failed (\(process.terminationStatus)).")
        }
        return String(decoding: printed, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// All data of a pipe; nil if its writers do not close it in time.
    private static func data(of pipe: FileHandle, until end: ContinuousClock.Instant) -> Data? {
        var all = Data()
        while true {
            let left = ContinuousClock.now.duration(to: end)
            guard left > .zero else { return nil }
            var readable = pollfd(fd: pipe.fileDescriptor, events: Int16(POLLIN), revents: 0)
            // Zero is a timeout, and less an interruption by a signal.
            guard poll(&readable, 1, Int32(left / .milliseconds(1)) + 1) > 0 else { continue }
            let data = nextData(of: pipe)
            if data.isEmpty { return all }
            all += data
        }
    }
}
