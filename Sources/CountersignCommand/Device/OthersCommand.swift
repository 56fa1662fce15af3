import ArgumentParser
import Countersign
import CountersignWire
import Encodings

extension DeviceCommand {
    struct OthersCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "others", abstract: "The user's other devices.",
            discussion:
                """
                Where the user has a PIN or a biometric, suspending, resuming and removing take --method, by which this \
                device signs; the PIN is read from standard input. What waits is undone without.
                """,
            subcommands: [List.self, Suspend.self, Resume.self, Remove.self, Undo.self])

        struct List: AsyncParsableCommand {
            static let configuration = CommandConfiguration(abstract: "List the user's other devices.")

            @OptionGroup var device: EnrollmentOptions
            @OptionGroup var output: OutputOptions

            mutating func run() async throws {
                let others = try await device.enrollment().otherDevices()
                let lines = others.devices.map { other in
                    let waits = other.waitingUntil.map { ", until \($0)" } ?? ""
                    let name = ShownText.isolated(other.device.name.text)
                    return "\(other.enrollment)  \(name): \(other.state.rawValue)\(waits)"
                }
                output.print(
                    [
                        "enrollments": .array(others.devices.map(\.json)), "needs_method": .bool(others.needsMethod),
                    ], lines.isEmpty ? "There is no other device." : lines.joined(separator: "\n"))
            }
        }

        struct Suspend: AsyncParsableCommand {
            static let configuration = CommandConfiguration(abstract: "Suspend a device: it can say nothing.")

            @OptionGroup var other: OtherOptions

            mutating func run() async throws {
                let (enrollment, id, proof) = try await other.act()
                try await enrollment.suspend(id, with: proof)
                other.done("suspended")
            }
        }

        struct Resume: AsyncParsableCommand {
            static let configuration = CommandConfiguration(abstract: "Resume a suspended device.")

            @OptionGroup var other: OtherOptions

            mutating func run() async throws {
                let (enrollment, id, proof) = try await other.act()
                try await enrollment.resume(id, with: proof)
                other.done("resumed")
            }
        }

        struct Remove: AsyncParsableCommand {
            static let configuration = CommandConfiguration(abstract: "Remove a device, for ever.")

            @OptionGroup var other: OtherOptions

            mutating func run() async throws {
                let (enrollment, id, proof) = try await other.act()
                try await enrollment.remove(id, with: proof)
                other.done("removed")
            }
        }

        struct Undo: AsyncParsableCommand {
            static let configuration = CommandConfiguration(
                abstract: "Undo a method of a device that does not count yet.")

            @Argument(help: "The method: pin, biometric or custom:NAME.")
            var method: String

            @OptionGroup var other: OtherOptions

            mutating func run() async throws {
                guard let method = AnswerMethod(rawValue: method) else {
                    throw ValidationError("The method is pin, biometric or custom:NAME.")
                }
                let enrollment = try await other.device.enrollment()
                try await enrollment.undo(method, of: try other.id())
                other.done("undone")
            }
        }
    }
}

/// Another device, and how this device signs the act.
struct OtherOptions: ParsableArguments {
    @Option(name: .customLong("device"), help: "The other device's enrollment, as `device others list` prints it.")
    var other: String

    @Option(help: "How this device signs: pin or biometric. (default: not at all)")
    var method: String?

    @OptionGroup var device: EnrollmentOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard let method, !["pin", "biometric"].contains(method) else { return }
        throw ValidationError("--method is pin or biometric.")
    }

    func id() throws -> EnrollmentID {
        guard let id = EnrollmentID(other) else { throw ValidationError("\(other) is no id of an enrollment.") }
        return id
    }

    func act() async throws -> (Enrollment, EnrollmentID, Proof?) {
        let (enrollment, id) = (try await device.enrollment(), try id())
        guard let method = method.flatMap(AnswerMethod.init(rawValue:)) else { return (enrollment, id, nil) }
        return (enrollment, id, try await Proof(asking: method))
    }

    func done(_ what: String) {
        output.print(["enrollment": .string(other), "done": .string(what)], "\(other): \(what).")
    }
}
