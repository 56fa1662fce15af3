import ArgumentParser
import Countersign
import CountersignWire
import Encodings

extension DeviceCommand {
    struct BiometricCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "biometric", abstract: "Biometrics, played: a terminal has none.",
            discussion:
                """
                With --insecure-simulated-biometrics. Where a PIN is set, it is read from standard input: without it \
                no method changes.
                """,
            subcommands: [Register.self, Remove.self])

        struct Register: AsyncParsableCommand {
            static let configuration = CommandConfiguration(
                abstract: "Register a biometric, in the place of an earlier one.")

            @OptionGroup var change: ChangeOptions
            @OptionGroup var device: EnrollmentOptions
            @OptionGroup var output: OutputOptions

            mutating func run() async throws {
                let enrollment = try await device.enrollment()
                try await enrollment.registerBiometric(
                    prompt: "Register this biometric", pin: try await enrollment.askedPIN(), authority: change.authority
                )
                output.print(["biometric": "registered"], "The biometric is registered.")
            }
        }

        struct Remove: AsyncParsableCommand {
            static let configuration = CommandConfiguration(abstract: "Remove the biometric.")

            @OptionGroup var change: ChangeOptions
            @OptionGroup var device: EnrollmentOptions
            @OptionGroup var output: OutputOptions

            mutating func run() async throws {
                let enrollment = try await device.enrollment()
                try await enrollment.removeBiometric(
                    pin: try await enrollment.askedPIN(), authority: change.authority)
                output.print(["biometric": "removed"], "There is no biometric any more.")
            }
        }
    }
}

/// What entitles the device to change a method if there is no PIN.
struct ChangeOptions: ParsableArguments {
    @Option(help: "The text of a ticket, needed without a PIN more than ten minutes after the enrollment.")
    var ticket: String?

    var authority: EnrollmentAuthority? { ticket.map { .ticket($0) } }
}

extension Enrollment {
    /// The PIN, if one is set.
    func askedPIN() async throws -> PIN? {
        try await methods().pin == .set ? try await PIN(typed: "PIN:") : nil
    }
}
