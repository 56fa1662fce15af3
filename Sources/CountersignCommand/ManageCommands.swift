import ArgumentParser
import CountersignWire
import Encodings
import Foundation
import NIOHTTP1
import RelyingPartyAPI

/// The command `countersign user`.
struct UserCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user", abstract: "Users and their devices.",
        subcommands: [
            List.self, Create.self, Show.self, Delete.self, Export.self, Ticket.self, Devices.self, RemoveDevice.self,
            Block.self, Claims.self,
        ])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Make a user.")

        @Option(help: "Your own name for the user.")
        var externalId: String?

        @Option(help: "The user's mail address, by which pages find them.")
        var email: String?

        @Option(help: "The user's telephone number, with + and the country's code.")
        var phone: String?

        @OptionGroup var remote: RemoteOptions
        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let body = UserRequest.json(externalID: externalId, email: email, phone: phone)
            let user = try await remote.withRemote { try await $0.call(.POST, "/v1/users", body) }
            output.print(user, user["id"]?.field ?? "")
        }
    }

    struct Ticket: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a one-time ticket that enrolls a device.",
            discussion: "Give the text to `countersign device enroll --ticket`, or show it as a QR code.")

        @Argument(help: "The user: an id, or your own name for them.")
        var user: String

        @OptionGroup var remote: RemoteOptions
        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let path = "/v1/users/\(Remote.escaped(Remote.user(user)))/enrollment-tickets"
            let ticket = try await remote.withRemote { try await $0.call(.POST, path) }
            output.print(ticket, ticket["qr"]?.field ?? "")
        }
    }

    struct Devices: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List a user's devices.")

        @Argument(help: "The user: an id, or your own name for them.")
        var user: String

        @OptionGroup var remote: RemoteOptions
        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let path = "/v1/users/\(Remote.escaped(Remote.user(user)))/enrollments"
            let list = try await remote.withRemote { try await $0.call(.GET, path) }
            let devices = list["enrollments"]?.array ?? []
            output.print(
                list, devices.map { UserCommand.fields(of: $0).joined(separator: "  ") }.joined(separator: "\n"))
        }
    }

    /// A device's fields for people.
    static func fields(of device: JSONValue) -> [String] {
        [
            device["enrollment"]?.field, device["state"]?.field, device["device"]?["name"]?.field,
            device["fingerprint"]?.field,
        ].compactMap { $0 }
    }

    struct RemoveDevice: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Remove a user's device.")

        @Argument(help: "The user: an id, or your own name for them.")
        var user: String

        @Argument(help: "The enrollment's id.")
        var enrollment: String

        @Option(help: "What the app is told: removed_by_client, or removed_for_security.")
        var reason: String?

        @OptionGroup var remote: RemoteOptions
        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let path =
                "/v1/users/\(Remote.escaped(Remote.user(user)))/enrollments/\(Remote.escaped(enrollment))"
                + (reason.map { "?reason=\(Remote.escaped($0))" } ?? "")
            _ = try await remote.withRemote { try await $0.call(.DELETE, path) }
            output.print(["removed": .string(enrollment)], "Removed \(enrollment).")
        }
    }
}

extension UserCommand {
    struct Block: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Let a user enroll no device through you, or let them again.",
            discussion: "Tickets that were made before enroll nothing either. Devices that the user has stay.")

        @Argument(help: "The user: an id, or your own name for them.")
        var user: String

        @Flag(help: "Let the user enroll devices again.")
        var end = false

        @OptionGroup var remote: RemoteOptions
        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let path = "/v1/users/\(Remote.escaped(Remote.user(user)))"
            let body = UserUpdate(isEnrollmentBlocked: !end).json
            let changed = try await remote.withRemote { try await $0.call(.PATCH, path, body) }
            output.print(changed, end ? "\(user) may enroll devices." : "\(user) may enroll no device.")
        }
    }
}

extension UserCommand {
    struct Claims: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Say of a user what you alone get back at userinfo, such as groups.",
            discussion: "The file holds a JSON object; it replaces what you have said before.")

        @Argument(help: "The user: an id, or your own name for them.")
        var user: String

        @Argument(help: "The file; - for the standard input.")
        var file: String?

        @Flag(help: "Say nothing of them any more.")
        var none = false

        @OptionGroup var remote: RemoteOptions
        @OptionGroup var output: OutputOptions

        func validate() throws {
            guard (file == nil) == none else { throw ValidationError("Name a file, or --none.") }
        }

        mutating func run() async throws {
            let claims = try file.map { file in
                let bytes =
                    file == "-" ? try FileHandle.standardInput.readToEnd() : FileManager.default.contents(atPath: file)
                return try jsonContent(bytes, of: file)
            }
            let path = "/v1/users/\(Remote.escaped(Remote.user(user)))"
            let body: JSONValue = ["claims": claims ?? .null]
            let changed = try await remote.withRemote { try await $0.call(.PATCH, path, body) }
            let names = claims?.object?.members.map { ShownText.line($0.name) }.joined(separator: ", ")
            output.print(changed, names.map { "Of \(user) you say: \($0)." } ?? "You say nothing of \(user).")
        }
    }
}

/// The command `countersign type`.
struct TypeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "type", abstract: "Challenge types: the policies clients ask by.",
        subcommands: [List.self, Set.self, Remove.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List challenge types.")

        @OptionGroup var remote: RemoteOptions
        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let types = try await remote.withRemote { remote in
                try await remote.all("types", of: remote.isOperator ? "/v1/admin/types" : "/v1/types")
            }
            output.print(["types": .array(types)], types.map(TypeCommand.describe).joined(separator: "\n"))
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a challenge type: nobody asks by it any more.",
            discussion: """
                What was asked goes on. A type that another one falls back to, or asks by from an unknown browser, stays \
                until that one is changed or removed. A type of the server's type_file is back at its next start.
                """)

        @Argument(help: "Its name.")
        var name: String

        @OptionGroup var remote: RemoteOptions
        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let path = "/v1/admin/types/\(Remote.escaped(name))"
            _ = try await remote.withRemote { try await $0.call(.DELETE, path) }
            output.print(["removed": .string(name)], "Removed \(name).")
        }
    }

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a challenge type, or replace one.",
            discussion: "What is left out gets the value of the type `confirm` as it is at first.")

        @Argument(help: "The name: lower case letters, digits, - and _.")
        var name: String

        @Option(help: "A method that may answer, the preferred one first: confirm, pin or biometric; may be repeated.")
        var method: [String] = []

        @Flag(help: "Ask whoever scans a code, instead of devices that are told of the challenge.")
        var qr = false

        @Flag(help: "Ask no device, but send six digits by text message, which the user types where this was started.")
        var textCode = false

        @Option(help: "How many seconds a challenge lives.")
        var expiresIn: Int64?

        @Flag(inversion: .prefixedNo, help: "Whether the number shown must be typed on the device.")
        var numberEntry: Bool?

        @Flag(inversion: .prefixedNo, help: "Whether a request may bring signing data.")
        var signingData: Bool?

        @Option(
            help: """
                The least that an answer must prove: receipt; challenge or event let devices of other vendors answer, \
                which do not sign what they have shown.
                """)
        var assurance: String?

        @Flag(help: "Label it AAL2: refused unless NIST SP 800-63B-4 accepts it; asks no device with keys in software.")
        var aal2 = false

        @Option(help: "The type to ask by where no device can answer by this one.")
        var fallback: String?

        @Option(help: "The type with a code to ask by where the user has approved nothing from the browser before.")
        var unknownBrowser: String?

        @Option(help: "How many challenges of one client may be open for one user.")
        var maxPending: Int64?

        @Option(help: "How often a client may ask a user within an hour without being approved once.")
        var maxAsks: Int64?

        @Option(
            help: "How many seconds a client must wait after a user's second denial in a row; doubled by each further.")
        var denialPause: Int64?

        @Option(help: "How often a challenge may be answered wrongly before it fails; without, as PINs allow.")
        var attempts: Int64?

        @Option(help: "How often a challenge may be announced again.")
        var maxResends: Int64?

        @Option(
            help: ArgumentHelp(
                "What is asked where a request says nothing itself; may be repeated.", valueName: "LANGUAGE=TEXT"))
        var text: [NamedValue] = []

        @Option(help: "A client that may ask by this type, and no other may; its id, may be repeated.")
        var client: [String] = []

        @Option(help: "The captcha of the server's settings whose token a request for a code by text message needs.")
        var captcha: String?

        @OptionGroup var remote: RemoteOptions
        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let body = TypeRequest.json(
                methods: method.isEmpty ? nil : method, isQR: qr ? true : nil, isText: textCode ? true : nil,
                lifetime: expiresIn, numberEntry: numberEntry, signingData: signingData, assurance: assurance,
                isAAL2: aal2 ? true : nil, fallback: fallback, unknownBrowser: unknownBrowser,
                maximumPending: maxPending, maximumAsks: maxAsks, denialPause: denialPause, attempts: attempts,
                maximumResends: maxResends, texts: text.map { ($0.name, $0.value) },
                clients: client.isEmpty ? nil : client, captcha: captcha)
            let path = "/v1/admin/types/\(Remote.escaped(name))"
            let type = try await remote.withRemote { try await $0.call(.PUT, path, body) }
            output.print(type, TypeCommand.describe(type))
        }
    }

    private static func describe(_ type: JSONValue) -> String {
        let isText = type["text_code"]?.bool == true
        let devices = (type["methods"]?.array ?? []).compactMap(\.field).joined(separator: " or ")
        let captcha = type["captcha"]?.field.map { " after the captcha \($0)" } ?? ""
        let methods = isText ? "a code by text message\(captcha)" : devices
        let number = type["number_entry"]?.bool == true ? "number entry" : "no number entry"
        let isWeak = !isText && type["assurance"] != nil && type["assurance"] != "receipt"
        let proof = isWeak ? ", assurance \(type["assurance"]?.field ?? "")" : ""
        return "\(type["name"]?.field ?? ""): \(methods), \(number)\(proof), \(type["expires_in"]?.integer ?? 0) s, "
            + "at most \(type["max_pending"]?.integer ?? 0) open and \(type["max_asks"]?.integer ?? 0) unapproved an hour"
            + (type["qr"]?.bool == true ? ", by code" : "") + (type["aal2"]?.bool == true ? ", AAL2" : "")
            + (type["fallback"]?.field.map { ", else \($0)" } ?? "")
            + (type["unknown_browser"]?.field.map { ", from an unknown browser by \($0)" } ?? "")
            + (type["clients"]?.array.map { ", for \($0.compactMap(\.field).joined(separator: ", "))" } ?? "")
            + (type["texts"]?.object?.members ?? []).map { "\n  \(ShownText.line($0.name)): \($0.value.field ?? "")" }
            .joined()
    }
}
