import ArgumentParser
import CountersignWire
import Encodings
import NIOHTTP1

/// The command `countersign admin enrollment`: what operators do with any device.
struct EnrollmentCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enrollment", abstract: "Any user's devices: remove, suspend, resume, waive the wait.",
        subcommands: [Remove.self, Suspend.self, Resume.self, Waive.self])

    private static func path(_ enrollment: String) -> String { "/v1/admin/enrollments/\(Remote.escaped(enrollment))" }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a device.",
            discussion: "A device that is lost takes along what waits to count of its user; no wait becomes shorter.")

        @Argument(help: "The enrollment's id.")
        var enrollment: String

        @Flag(help: "The device is lost or stolen.")
        var lost = false

        @OptionGroup var remote: RemoteOptions
        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let reason: RemovalReason = lost ? .lost : .operator
            let path = "\(EnrollmentCommand.path(enrollment))?reason=\(reason.rawValue)"
            _ = try await remote.withRemote { try await $0.call(.DELETE, path) }
            output.print(
                ["removed": .string(enrollment), "reason": .string(reason.rawValue)], "Removed \(enrollment).")
        }
    }

    struct Suspend: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Suspend a device: it does nothing until it is resumed.")

        @Argument(help: "The enrollment's id.")
        var enrollment: String

        @OptionGroup var remote: RemoteOptions
        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let path = "\(EnrollmentCommand.path(enrollment))/suspend"
            _ = try await remote.withRemote { try await $0.call(.POST, path) }
            output.print(["suspended": .string(enrollment)], "Suspended \(enrollment).")
        }
    }

    struct Resume: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Resume a device that was suspended.")

        @Argument(help: "The enrollment's id.")
        var enrollment: String

        @OptionGroup var remote: RemoteOptions
        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let path = "\(EnrollmentCommand.path(enrollment))/resume"
            _ = try await remote.withRemote { try await $0.call(.POST, path) }
            output.print(["resumed": .string(enrollment)], "Resumed \(enrollment).")
        }
    }

    struct Waive: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "End the wait of a device and of its methods.",
            discussion: "Compare the fingerprint with what the user's device shows, on the telephone or in person.")

        @Argument(help: "The enrollment's id.")
        var enrollment: String

        @Argument(help: "The fingerprint that the device shows.")
        var fingerprint: String

        @OptionGroup var remote: RemoteOptions
        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let path = "\(EnrollmentCommand.path(enrollment))/waiver"
            let body: JSONValue = ["fingerprint": .string(fingerprint)]
            _ = try await remote.withRemote { try await $0.call(.POST, path, body) }
            output.print(["waived": .string(enrollment)], "\(enrollment) waits no longer.")
        }
    }
}
