import ArgumentParser
import CountersignWire
import Encodings
import NIOHTTP1
import RelyingPartyAPI

/// The command `countersign admin enrollment`: actions of operators on any device.
struct EnrollmentCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enrollment",
        abstract: "Any user's devices: list, remove, suspend, resume, confirm, waive the wait.",
        subcommands: [List.self, Remove.self, Suspend.self, Resume.self, Confirm.self, Waive.self], aliases: ["device"])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List devices, whosever they are, oldest first; with filters, what meets all of them.")

        @Option(help: "Of one user, by their id.")
        var user: String?

        @Option(help: "Of the users of one client, by its id.")
        var client: String?

        @Option(help: "In one state: active, waiting, suspended or removed.")
        var state: String?

        @Option(help: "By one key, the fingerprint that the device shows.")
        var fingerprint: String?

        @OptionGroup var remote: RemoteOptions
        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let query = Remote.query([
                ("user", user), ("client", client), ("state", state), ("fingerprint", fingerprint),
            ])
            let devices = try await remote.withRemote { remote in
                try await remote.all("enrollments", of: "/v1/admin/enrollments", query)
            }
            let lines = devices.map { device in
                ([device["user"]?.field].compactMap { $0 } + UserCommand.fields(of: device)).joined(separator: "  ")
            }
            output.print(["enrollments": .array(devices)], lines.joined(separator: "\n"))
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a device.",
            discussion: "A device that is lost takes along what waits to count of its user; no wait becomes shorter.")

        @OptionGroup var device: AnyEnrollment

        @Flag(help: "The device is lost or stolen.")
        var lost = false

        mutating func run() async throws {
            let reason: RemovalReason = lost ? .lost : .operator
            let id = device.id
            try await device.call(
                .DELETE, "?reason=\(reason.rawValue)",
                done: ["removed": .string(id), "reason": .string(reason.rawValue)], "Removed \(id).")
        }
    }

    struct Suspend: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Suspend a device: it does nothing until it is resumed.")

        @OptionGroup var device: AnyEnrollment

        mutating func run() async throws {
            let id = device.id
            try await device.call(.POST, "/suspend", done: ["suspended": .string(id)], "Suspended \(id).")
        }
    }

    struct Resume: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Resume a device that was suspended.")

        @OptionGroup var device: AnyEnrollment

        mutating func run() async throws {
            let id = device.id
            try await device.call(.POST, "/resume", done: ["resumed": .string(id)], "Resumed \(id).")
        }
    }

    struct Confirm: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Confirm in the name of the user that a device is theirs: it counts for all relying parties.",
            discussion: """
                Before, a device counts only for the relying party that enrolled it and, if that is no third party, for \
                the others that are none. For these it counts at once, with its methods: have the user show by other means \
                that they hold it.
                """)

        @OptionGroup var device: AnyEnrollment

        mutating func run() async throws {
            let id = device.id
            try await device.call(.POST, "/confirm", done: ["confirmed": .string(id)], "Confirmed \(id).")
        }
    }

    struct Waive: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "End the wait of a device and of its methods.",
            discussion: "Compare the fingerprint with what the user's device shows, on the telephone or in person.")

        @OptionGroup var device: AnyEnrollment

        @Argument(help: "The fingerprint that the device shows.")
        var fingerprint: String

        mutating func run() async throws {
            let id = device.id
            try await device.call(
                .POST, "/waiver", WaiverRequest.json(fingerprint: fingerprint), done: ["waived": .string(id)],
                "\(id) waits no longer.")
        }
    }
}

/// A device of any user, and the operator who acts on it.
struct AnyEnrollment: ParsableArguments {
    @Argument(help: ArgumentHelp("The enrollment's id.", valueName: "enrollment"))
    var id: String

    @OptionGroup var remote: RemoteOptions
    @OptionGroup var output: OutputOptions

    /// Calls the server about the device, and prints the result.
    ///
    /// - Parameters:
    ///   - method: the method.
    ///   - rest: the part of the path after the enrollment.
    ///   - body: the body.
    ///   - done: the output for scripts.
    ///   - human: the output for people.
    fileprivate func call(
        _ method: HTTPMethod, _ rest: String, _ body: JSONValue? = nil, done: JSONValue, _ human: String
    ) async throws {
        let path = "/v1/admin/enrollments/\(Remote.escaped(id))\(rest)"
        try await remote.withRemote { _ = try await $0.call(method, path, body) }
        output.print(done, human)
    }
}
