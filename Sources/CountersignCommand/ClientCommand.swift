import ArgumentParser
import CountersignWire
import Encodings
import Foundation
import NIOHTTP1
import RelyingPartyAPI

/// The command `countersign client`.
struct ClientCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "client", abstract: "Relying parties.",
        subcommands: [
            Create.self, Update.self, RenewSecret.self, RenewCallbackSecret.self, Disable.self, Enable.self,
            Delete.self, List.self, OpenID.self,
        ])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a relying party. Its secrets are shown this once.")

        @Option(help: "What users know it by.")
        var name: String

        @Flag(help: "A client with a secret, such as a portal's backend; the only kind so far.")
        var confidential = false

        @Option(
            help:
                "A right: challenges, users or enrollments; may be repeated. (default: all three; none for a third party)"
        )
        var right: [String] = []

        @Option(help: "A URL that may be called back; may be repeated.")
        var callback: [String] = []

        @Option(help: "A URL that devices may return to after following a link; may be repeated.")
        var returnTo: [String] = []

        @Flag(help: "Let its tickets enroll a further device without the approval of an earlier one.")
        var waiveEnrollmentApproval = false

        @Flag(
            help: """
                It is somebody else's: what it says of users, and the devices that it enrolls, count for it alone until \
                the user confirms them. This never changes.
                """)
        var thirdParty = false

        @Option(help: "How many seconds a further device waits that no earlier one approves. (default: 86400)")
        var coolingOff: Int64?

        @Option(help: "A URL that is told when a user's device or way to answer is added, changed or removed.")
        var notice: String?

        @OptionGroup var basic: BasicOptions
        @OptionGroup var devices: DeviceLimitOptions
        @OptionGroup var authenticators: AuthenticatorOptions
        @OptionGroup var vendors: VendorOptions
        @OptionGroup(title: "Rules for PINs") var pins: PINPolicyOptions
        @OptionGroup var remote: RemoteOptions
        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let settings = ClientChanges.json(
                name: name, rights: right.isEmpty ? nil : right, callbackURIs: callback, returnURIs: returnTo,
                noticeURI: notice.map(JSONValue.string), basic: try basic.json,
                waivesEnrollmentApproval: waiveEnrollmentApproval, coolingOff: coolingOff, pinPolicy: pins.json,
                deviceLimit: devices.json, authenticators: authenticators.json, vendors: vendors.names)
            let body = ClientRequest.json(settings, isThirdParty: thirdParty)
            let made = try await remote.withRemote { try await $0.call(.POST, "/v1/admin/clients", body) }
            let id = made["client_id"]?.field ?? ""
            let secret = made["client_secret"]?.field ?? ""
            output.print(
                made,
                """
                Client \(id)
                Secret: \(secret)
                Callback secret: \(made["callback_secret"]?.field ?? "")
                Secret of notices: \(made["notice_secret"]?.field ?? "")
                Secret of hooks: \(made["hook_secret"]?.field ?? "")
                To act for it: export COUNTERSIGN_TOKEN=\(id):\(secret)
                """)
        }
    }

    struct Update: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Change a relying party; what is not named stays as it was.", aliases: ["set"])

        @Argument(help: "The client's id.")
        var id: String

        @Option(help: "What users know it by.")
        var name: String?

        @Option(help: "A right: challenges, users or enrollments; may be repeated, and replaces all earlier ones.")
        var right: [String] = []

        @Option(help: "A URL that may be called back; may be repeated, and replaces all earlier ones.")
        var callback: [String] = []

        @Flag(help: "Let it be called back nowhere.")
        var noCallback = false

        @Option(
            help: """
                A URL that devices may return to after following a link; may be repeated, and replaces all earlier ones.
                """)
        var returnTo: [String] = []

        @Flag(help: "Let devices return nowhere: links are over.")
        var noReturnTo = false

        @Option(help: "A URL that is told when a user's device or way to answer is added, changed or removed.")
        var notice: String?

        @Flag(help: "Tell it nothing of its users' devices any more.")
        var noNotice = false

        @OptionGroup var basic: BasicOptions

        @Flag(help: "Send no name and password with callbacks any more.")
        var noCallbackBasic = false

        @Flag(
            inversion: .prefixedNo,
            help: "Whether its tickets enroll a further device without the approval of an earlier one.")
        var waiveEnrollmentApproval: Bool?

        @Option(help: "How many seconds a further device waits that no earlier one approves.")
        var coolingOff: Int64?

        @OptionGroup var devices: DeviceLimitOptions

        @Flag(help: "Let a user have as many devices as there are.")
        var noMaxDevices = false

        @OptionGroup var authenticators: AuthenticatorOptions

        @Flag(help: "Let it judge nothing itself any more.")
        var noAuthenticator = false

        @OptionGroup var vendors: VendorOptions

        @Flag(help: "Let it make our own calls alone.")
        var noVendor = false

        @OptionGroup(title: "Rules for PINs, replacing all earlier ones") var pins: PINPolicyOptions
        @OptionGroup var remote: RemoteOptions
        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let body = ClientChanges.json(
                name: name, rights: right.isEmpty ? nil : right,
                callbackURIs: callback.isEmpty && !noCallback ? nil : callback,
                returnURIs: returnTo.isEmpty && !noReturnTo ? nil : returnTo,
                noticeURI: noNotice ? .null : notice.map(JSONValue.string),
                basic: noCallbackBasic ? .null : try basic.json, waivesEnrollmentApproval: waiveEnrollmentApproval,
                coolingOff: coolingOff, pinPolicy: pins.json, deviceLimit: noMaxDevices ? .null : devices.json,
                authenticators: noAuthenticator ? [] : authenticators.json,
                vendors: noVendor ? [] : vendors.names)
            let path = "/v1/admin/clients/\(Remote.escaped(id))"
            let client = try await remote.withRemote { try await $0.call(.PATCH, path, body) }
            output.print(client, ClientCommand.describe(client))
        }
    }

    struct RenewSecret: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a new secret for a relying party. It is shown this once.",
            discussion: "The earlier one lets it in beside it for a while: give it the new one meanwhile.")

        @Argument(help: "The client's id.")
        var id: String

        @Option(help: "For how many seconds the earlier one still works; 0 if it has become known. (default: 86400)")
        var overlap: Int64?

        @OptionGroup var remote: RemoteOptions
        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let body = SecretRequest(overlap: overlap.map { Seconds($0) }).json
            let path = "/v1/clients/\(Remote.escaped(id))/secret"
            let renewed = try await remote.withRemote { try await $0.call(.POST, path, body) }
            let secret = renewed["client_secret"]?.field ?? ""
            output.print(
                renewed,
                """
                Secret: \(secret)
                The earlier one works beside it until \(renewed["earlier_until"]?.field ?? "").
                To act for it: export COUNTERSIGN_TOKEN=\(id):\(secret)
                """)
        }
    }

    struct Disable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Let a relying party in nowhere, until it is enabled again.",
            discussion: "What it has asked, and nobody answered, is cancelled.")

        @Argument(help: "The client's id.")
        var id: String

        @OptionGroup var remote: RemoteOptions
        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let path = "/v1/admin/clients/\(Remote.escaped(id))/disable"
            let client = try await remote.withRemote { try await $0.call(.POST, path) }
            output.print(client, ClientCommand.describe(client))
        }
    }

    struct Enable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Let a relying party in again that was disabled.")

        @Argument(help: "The client's id.")
        var id: String

        @OptionGroup var remote: RemoteOptions
        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let path = "/v1/admin/clients/\(Remote.escaped(id))/enable"
            let client = try await remote.withRemote { try await $0.call(.POST, path) }
            output.print(client, ClientCommand.describe(client))
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Take a relying party away for good.",
            discussion: """
                Its users are unlinked: who has no other relying party is deleted, with their devices. Receipts stay in
                the database, but nobody can fetch them: fetch those that you need before.
                """)

        @Argument(help: "The client's id.")
        var id: String

        @OptionGroup var remote: RemoteOptions

        mutating func run() async throws {
            let path = "/v1/admin/clients/\(Remote.escaped(id))"
            _ = try await remote.withRemote { try await $0.call(.DELETE, path) }
            say("Client \(id) is deleted.")
        }
    }

    struct RenewCallbackSecret: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make new secrets that sign callbacks, notices and calls of hooks. They are shown this once.",
            discussion: "The earlier ones sign beside them for a while: give each receiver its new one meanwhile.")

        @Argument(help: "The client's id.")
        var id: String

        @Option(help: "For how many seconds the earlier one still signs; 0 if it has become known. (default: 86400)")
        var overlap: Int64?

        @OptionGroup var remote: RemoteOptions
        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let body = SecretRequest(overlap: overlap.map { Seconds($0) }).json
            let path = "/v1/admin/clients/\(Remote.escaped(id))/callback-secret"
            let renewed = try await remote.withRemote { try await $0.call(.POST, path, body) }
            output.print(
                renewed,
                """
                Callback secret: \(renewed["callback_secret"]?.field ?? "")
                Secret of notices: \(renewed["notice_secret"]?.field ?? "")
                Secret of hooks: \(renewed["hook_secret"]?.field ?? "")
                The earlier ones sign beside them until \(renewed["earlier_until"]?.field ?? "").
                """)
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List relying parties.")

        @OptionGroup var remote: RemoteOptions
        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let list = try await remote.withRemote { try await $0.call(.GET, "/v1/admin/clients") }
            let clients = list["clients"]?.array ?? []
            output.print(list, clients.map(ClientCommand.describe).joined(separator: "\n"))
        }
    }

    private static func describe(_ client: JSONValue) -> String {
        let gone = (client["gone_callback_uris"]?.array ?? []).compactMap(\.field)
        let lines = ["\(client["client_id"]?.field ?? "")  \(client["name"]?.field ?? "")"]
        let thirdParty = client["third_party"] == true ? ["  a third party"] : []
        let vendors = (client["vendors"]?.array ?? []).compactMap(\.field)
        let calls = vendors.isEmpty ? [] : ["  also makes the calls of \(vendors.joined(separator: ", "))"]
        let disabled = client["disabled_at"]?.field.map { ["  disabled since \($0)"] } ?? []
        let uncalled = gone.map { "  called no more, for it said that it is gone: \($0)" }
        return (lines + thirdParty + calls + disabled + uncalled).joined(separator: "\n")
    }
}

/// The name and password that a receiver of callbacks requires besides the signature.
struct BasicOptions: ParsableArguments {
    /// The variable that holds the password: everybody on the machine can read a command line.
    static let variable = "COUNTERSIGN_CALLBACK_PASSWORD"

    @Option(
        help:
            "A name that callbacks bring, for receivers that check no signature; the password is read from \(variable)."
    )
    var callbackUsername: String?

    fileprivate var json: JSONValue? {
        get throws {
            guard let callbackUsername else { return nil }
            guard let password = ProcessInfo.processInfo.environment[Self.variable], !password.isEmpty else {
                throw CommandError("--callback-username needs the password in the variable \(Self.variable).", .usage)
            }
            return BasicCredentials.json(username: callbackUsername, password: Secret(password))
        }
    }
}

/// How many devices a user may enroll through a client.
struct DeviceLimitOptions: ParsableArguments {
    @Option(help: "How many devices of a user may be enrolled through it, 1 to 100.")
    var maxDevices: Int64?

    @Flag(help: "Let a further one take the place of the oldest; otherwise it is refused.")
    var replaceOldest = false

    func validate() throws {
        guard !replaceOldest || maxDevices != nil else {
            throw ValidationError("--replace-oldest needs --max-devices.")
        }
    }

    /// The limit; nil if no option names one.
    fileprivate var json: JSONValue? {
        maxDevices.map { EnrollmentPolicies.DeviceLimit(maximum: Int($0), replacesOldest: replaceOldest).json }
    }
}

/// The custom authenticators of the devices that enroll through a client.
struct AuthenticatorOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A custom authenticator and the URL of the client's hook that judges it; may be repeated.",
            valueName: "NAME=URL"))
    var authenticator: [NamedValue] = []

    @Option(help: "How many seconds a hook may take, 1 to 10. (default: 5)")
    var authenticatorDeadline: Int64?

    @Option(help: "How many tries in a row a hook may want, 1 to 10. (default: 5)")
    var authenticatorAttempts: Int64?

    func validate() throws {
        guard !authenticator.isEmpty || (authenticatorDeadline ?? authenticatorAttempts) == nil else {
            throw ValidationError("--authenticator-deadline and --authenticator-attempts need --authenticator.")
        }
    }

    /// The authenticators; nil if no option names one.
    fileprivate var json: [JSONValue]? {
        guard !authenticator.isEmpty else { return nil }
        return authenticator.map {
            CustomAuthenticator.json(
                name: $0.name, hook: $0.value, deadline: authenticatorDeadline, attempts: authenticatorAttempts)
        }
    }
}

/// The other products whose calls a client may make.
struct VendorOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Let it make another product's calls besides ours: cotter, okta or onewelcome; may be repeated.",
            valueName: "NAME"))
    var vendor: [String] = []

    /// The names; nil if no option has one.
    fileprivate var names: [String]? { vendor.isEmpty ? nil : vendor }
}

/// The rules for PINs on the devices of a client.
struct PINPolicyOptions: ParsableArguments {
    @Option(help: "The fewest digits, 4 to 32. (default: 5)")
    var pinMinLength: Int64?

    @Option(help: "The most digits, 4 to 32. (default: 32)")
    var pinMaxLength: Int64?

    @Option(help: "How often one digit may stand in a PIN. (default: 3)")
    var pinMaxRepeats: Int64?

    @Flag(help: "Allow sequences such as 123456 and 864208.")
    var pinSequences = false

    @Option(help: "A PIN that may not be set; may be repeated.")
    var pinBlock: [String] = []

    @Option(help: "How many wrong PINs in a row there may be, 1 to 10. (default: 5)")
    var pinAttempts: Int64?

    @Option(help: "What happens then: lock, or remove the enrollment. (default: lock)")
    var pinAtLimit: String?

    @Option(help: "The binary logarithm of scrypt's cost, 15 to 18. (default: 16)")
    var pinCost: Int64?

    /// The rules; nil if no option names one.
    fileprivate var json: JSONValue? {
        let json = JSONValue.members([
            "min_length": pinMinLength.map(JSONValue.integer), "max_length": pinMaxLength.map(JSONValue.integer),
            "max_repeats": pinMaxRepeats.map(JSONValue.integer), "sequences": pinSequences ? true : nil,
            "blocked": pinBlock.isEmpty ? nil : .array(pinBlock.map(JSONValue.string)),
            "attempts": pinAttempts.map(JSONValue.integer), "at_limit": pinAtLimit.map(JSONValue.string),
            "cost": pinCost.map(JSONValue.integer),
        ])
        return json.object?.members.isEmpty == true ? nil : json
    }
}
