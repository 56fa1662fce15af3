import CountersignStorage
import Foundation

/// Runs the command that prints the master key.
enum KeyCommand {
    /// The output of a command without surrounding white space; its error output goes to the server's.
    static func run(_ command: String) throws -> String {
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
        let printed = allData(of: output.fileHandleForReading)
        process.waitUntilExit()
        guard process.terminationReason == .exit, process.terminationStatus == 0 else {
            throw StartError("`\(command)`, which master_key_command names, failed (\(process.terminationStatus)).")
        }
        return String(decoding: printed, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
