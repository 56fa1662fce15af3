import ArgumentParser
import Countersign
import CountersignServer
import CountersignWire
import Encodings
import Foundation
import OpenPGP

/// The command `countersign device`.
struct DeviceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device", abstract: "A phone in the terminal.",
        discussion: "The device SDK as an app would use it, for development, demonstrations and tests.",
        subcommands: [
            Enroll.self, Status.self, PINCommand.self, BiometricCommand.self, CustomCommand.self, OthersCommand.self,
            Watch.self,
            Pending.self, Scan.self, Open.self, Answer.self, Remove.self,
        ])

    struct Enroll: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Enroll this device with a ticket, or by a sign-in.",
            discussion:
                """
                Without a ticket it takes the access token of `countersign login --scope enroll` in the same folder, \
                within ten minutes of the sign-in.
                """)

        @Option(help: "The text of the ticket, as `countersign user ticket` prints it.")
        var ticket: String?

        @Option(help: "The client of `countersign login`, to enroll by that sign-in.")
        var client: String?

        @Option(help: "The issuer of `countersign login`. (default: $COUNTERSIGN_URL, else http://127.0.0.1:8080)")
        var issuer: String?

        @Option(help: "What to call this device. (default: what it was called before, else Terminal phone)")
        var name: String?

        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func validate() throws {
            guard (ticket == nil) != (client == nil) else { throw ValidationError("Say --ticket or --client.") }
            guard ticket == nil || issuer == nil else { throw ValidationError("A ticket names its issuer itself.") }
        }

        mutating func run() async throws {
            let (issuer, authority) = try await chosenAuthority()
            let authenticator = try await home.authenticator(issuer: issuer, name: name)
            let enrollment = try await authenticator.enroll(with: authority)
            try home.remember(issuer: issuer, name: name)
            let waits = enrollment.approval.map { approval in
                let yes = approval.number.map { "type \(ShownText.line($0)) on a device that the user has, or wait" }
                return """

                    It waits to be approved: \(yes ?? "no device of the user's can do so, wait") until \
                    \(approval.expiresAt).
                    """
            }
            output.print(
                .members([
                    "enrollment": .string("\(enrollment.id)"), "user": .string("\(enrollment.user)"),
                    "fingerprint": .string("\(enrollment.fingerprint)"),
                    "approval": enrollment.approval.map {
                        .members([
                            "number": $0.number.map(JSONValue.string), "expires_at": .string("\($0.expiresAt)"),
                        ])
                    },
                ]),
                "Enrolled \(enrollment.id) for \(enrollment.user).\nFingerprint: \(enrollment.fingerprint)\(waits ?? "")"
            )
        }

        private func chosenAuthority() async throws -> (issuer: String, EnrollmentAuthority) {
            if let client {
                let place = SignInPlace(issuer: issuer, client: client, home: home.home)
                return (place.issuer, .accessToken(try await place.openIDClient().accessToken()))
            }
            guard let ticket, let invitation = EnrollmentInvitation(ticket) else {
                throw CountersignError.invitationRefused(.malformed)
            }
            return ("\(invitation.issuer)", .ticket(ticket))
        }
    }

    struct Status: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Ask the server how this device's enrollments stand.")

        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let enrollments = try await home.enrollments()
            var list: [JSONValue] = []
            var lines: [String] = []
            var failed = 0
            for enrollment in enrollments {
                let until: Timestamp?
                do throws(CountersignError) {
                    until = try await enrollment.refresh()
                } catch {
                    // A challenge that fails does not hide the others.
                    failed += 1
                    guard failed < enrollments.count else { throw error }
                    list.append(["enrollment": .string("\(enrollment.id)"), "error": ErrorReport(error).json])
                    lines.append("\(enrollment.id): \(ShownText.line("\(error)"))")
                    continue
                }
                list.append(
                    .members([
                        "enrollment": .string("\(enrollment.id)"), "state": until == nil ? "active" : "waiting",
                        "waiting_until": until.map { .string("\($0)") },
                    ]))
                lines.append("\(enrollment.id): \(until.map { "waits to be approved, until \($0)" } ?? "active")")
            }
            output.print(["enrollments": .array(list)], lines.joined(separator: "\n"))
        }
    }

    struct Watch: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Wait for challenges, show them and ask for the answer.",
            discussion:
                """
                With --json it only tells of challenges, an object a line; answer with `countersign device answer`.

                With --push it does not ask the server but waits for pushes, as a phone does; the server must run on \
                this machine, in development mode.
                """)

        @Flag(help: "Wait for pushes instead of asking.")
        var push = false

        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let authenticator = try await home.authenticator()
            guard await !authenticator.enrollments.isEmpty else { throw CountersignError.notEnrolled }
            if push {
                try await waitForPushes(authenticator)
            } else {
                if !output.json { say("Waiting for challenges. End with Ctrl-C.") }
                for await pending in authenticator.challenges() { try await show(pending) }
            }
        }

        private func show(_ pending: PendingChallenge) async throws {
            if output.json {
                output.print(pending.json, "")
            } else {
                try await TerminalPhone(input: LineReader.standardInput).handle(pending)
            }
        }

        private func waitForPushes(_ authenticator: Authenticator) async throws {
            let listener = PushListener()
            let (addresses, ready) = AsyncStream.makeStream(of: LocalPushAddress.self)
            try await withThrowingTaskGroup { group in
                group.addTask {
                    defer { ready.finish() }
                    try await listener.run { ready.yield($0) }
                }
                for await address in addresses {
                    try await authenticator.registerPush(.local, app: "countersign.device", token: "\(address)")
                    break
                }
                if !output.json { say("Waiting for pushes. End with Ctrl-C.") }
                // First the challenges from before the device could receive pushes.
                var shown: Set<ChallengeID> = []
                for pending in try await authenticator.pendingChallenges().reversed() {
                    shown.insert(pending.id)
                    try await show(pending)
                }
                for await push in listener.pushes {
                    do {
                        guard let pending = try await authenticator.pendingChallenge(from: push),
                            shown.insert(pending.id).inserted
                        else { continue }
                        try await show(pending)
                    } catch let error as CountersignError {
                        say("\(ShownText.line("\(error)")) \(error.suggestion)")
                    }
                }
                group.cancelAll()
            }
        }
    }

    struct Pending: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List what is waiting for an answer.")

        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let pending = try await home.authenticator().pendingChallenges()
            let lines = pending.map {
                "\($0.id)  \(ShownText.isolated($0.clientName)): \(ShownText.isolated($0.message))"
            }
            output.print(
                ["challenges": .array(pending.map(\.json))],
                lines.isEmpty ? "Nothing is waiting." : lines.joined(separator: "\n"))
        }
    }

    struct Scan: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Claim a challenge by its code or its link, and show all of it.",
            discussion: "Answer it with `countersign device answer`. The first device to come with a code is asked.")

        @Argument(help: "The text of the code, or the link, as `countersign challenge code` prints it.")
        var code: String

        @OptionGroup var device: EnrollmentOptions
        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let enrollment = try await device.enrollment()
            let link = code.contains("#") ? URL(string: code) : nil
            let question =
                if let link { try await enrollment.claim(link: link) } else { try await enrollment.claim(code) }
            output.print(question.json, TerminalPhone.render(question))
        }
    }

    struct Open: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show all of a challenge.")

        @Argument(help: "The challenge's id.")
        var id: String

        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let question = try await home.question(id)
            output.print(question.json, TerminalPhone.render(question))
        }
    }

    struct Answer: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Answer a challenge.")

        @Argument(help: "The challenge's id.")
        var id: String

        @Flag(exclusivity: .exclusive, help: "What to answer.")
        var decision: TerminalDecision

        @Option(help: "The number shown where this was started.")
        var number: String?

        @Option(
            help: """
                How to approve: confirm, biometric, pin or custom:NAME; the PIN, or what the custom authenticator \
                judges, is read from standard input. (default: what the client prefers)
                """)
        var method: String?

        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func validate() throws {
            if let method, AnswerMethod(rawValue: method) == nil {
                throw ValidationError("--method is confirm, biometric, pin or custom:NAME.")
            }
        }

        mutating func run() async throws {
            let question = try await home.question(id)
            var approved: Approved?
            switch decision {
            case .approve:
                let method = method.flatMap(AnswerMethod.init(rawValue:)) ?? question.methods.first ?? .confirm
                approved = try await question.approve(with: try await Proof(asking: method), number: number)
            case .deny: try await question.deny()
            case .report: try await question.report()
            }
            output.print(
                .members([
                    "challenge": .string(id), "decision": .string(decision.past),
                    "payload": approved?.payload.map(JSONValue.string),
                    "return_url": approved?.returnURL.map { .string($0.absoluteString) },
                ]),
                "\(id): \(decision.past).\(CustomCommand.said(approved?.payload))\(TerminalPhone.wayBack(approved))")
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove this device's enrollments, everywhere.", discussion: "All, where --enrollment names none."
        )

        @Flag(help: "Only forget them here; the server is not told.")
        var local = false

        @OptionGroup var device: EnrollmentOptions
        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let enrollments = try await device.enrollments()
            for enrollment in enrollments {
                if local { try await enrollment.removeLocally() } else { try await enrollment.remove() }
            }
            output.print(
                ["removed": .array(enrollments.map { .string("\($0.id)") })],
                enrollments.map { "Removed \($0.id)." }.joined(separator: "\n"))
        }
    }
}

extension Proof {
    /// Asks the person for the proof that a method needs.
    init(asking method: AnswerMethod) async throws {
        switch method {
        case .confirm: self = .confirmation
        case .pin: self = .pin(try await PIN(typed: "PIN:"))
        case .biometric: self = .biometric(prompt: "Approve on this device")
        case .custom(let name):
            self = .custom("\(name)", data: try await DeviceCommand.CustomCommand.data(for: "\(name)"))
        }
    }
}

/// The answers that a person can give.
enum TerminalDecision: String, EnumerableFlag {
    case approve, deny, report

    var past: String {
        switch self {
        case .approve: "approved"
        case .deny: "denied"
        case .report: "reported"
        }
    }
}

/// The enrollment for a command, if several users share this device.
struct EnrollmentOptions: ParsableArguments {
    @Option(name: .customLong("enrollment"), help: "One of this device's enrollments, by its id. (default: the newest)")
    var id: String?

    @OptionGroup var home: HomeOptions

    /// The named enrollment, else all enrollments.
    func enrollments() async throws -> [Enrollment] {
        let all = try await home.enrollments()
        guard let id else { return all }
        let named = all.filter { "\($0.id)" == id }
        guard !named.isEmpty else {
            throw CommandError("This device has no enrollment \(id): `countersign device status` lists those it has.")
        }
        return named
    }

    /// The named enrollment, else the newest one.
    func enrollment() async throws -> Enrollment {
        guard let enrollment = try await enrollments().last else { throw CountersignError.notEnrolled }
        return enrollment
    }
}

/// Where the terminal phone keeps its keys.
struct HomeOptions: ParsableArguments {
    @Option(help: "The folder with this device's keys. (default: $COUNTERSIGN_DEVICE_HOME, else ./countersign-device)")
    var home: String?

    @Option(
        help: """
            Play biometrics, for tests: match, \(BiometricFailure.allCases.map(\.rawValue).joined(separator: ", ")). \
            Nothing protects the key.
            """)
    var insecureSimulatedBiometrics: String?

    func validate() throws {
        guard let word = insecureSimulatedBiometrics, word != "match", BiometricFailure(rawValue: word) == nil else {
            return
        }
        throw ValidationError("--insecure-simulated-biometrics does not know \"\(word)\".")
    }

    private var folder: URL { DeviceFolder.url(home) }
    private var issuerFile: URL { folder.appending(path: "issuer") }
    private var nameFile: URL { folder.appending(path: "name") }

    /// The authenticator for a server, by default the one with which this device is enrolled.
    func authenticator(issuer: String? = nil, name: String? = nil) async throws -> Authenticator {
        guard let text = issuer ?? (try? String(contentsOf: issuerFile, encoding: .utf8)), let url = URL(string: text)
        else {
            throw CountersignError.notEnrolled
        }
        var vault: any Vault = try DeviceFolder.vault(in: folder)
        if let word = insecureSimulatedBiometrics {
            vault = InsecureSimulatedBiometrics(before: vault) { _ in BiometricFailure(rawValue: word) }
        }
        let app = AppDescription(
            name: "countersign device", version: ServerVersion.text,
            deviceName: name ?? (try? String(contentsOf: nameFile, encoding: .utf8)) ?? "Terminal phone",
            system: Self.system)
        return try await Authenticator(issuer: url, app: app, vault: vault, transport: DeviceFolder.transport)
    }

    /// Stores the device's server and name; a real phone would ask its system for the name each time.
    func remember(issuer: String, name: String?) throws {
        try Data(issuer.utf8).write(to: issuerFile, options: .atomic)
        if let name { try Data(name.utf8).write(to: nameFile, options: .atomic) }
    }

    /// The enrollments on this device; throws if there is none.
    func enrollments() async throws -> [Enrollment] {
        let all = await (try authenticator()).enrollments
        guard !all.isEmpty else { throw CountersignError.notEnrolled }
        return all
    }

    /// An opened challenge of any enrollment on this device.
    func question(_ id: String) async throws -> OpenedChallenge {
        let authenticator = try await authenticator()
        guard let id = ChallengeID(id) else { throw CountersignError.challengeNotFound }
        let enrollments = await authenticator.enrollments
        guard !enrollments.isEmpty else { throw CountersignError.notEnrolled }
        for enrollment in enrollments {
            do {
                return try await authenticator.open(id, for: enrollment.id)
            } catch CountersignError.challengeNotFound {
                continue
            }
        }
        throw CountersignError.challengeNotFound
    }

    private static var system: String {
        #if os(Linux)
            "Linux"
        #else
            "macOS"
        #endif
    }
}

extension PendingChallenge {
    fileprivate var json: JSONValue {
        .members([
            "id": .string("\(id)"), "enrollment": .string("\(enrollment)"), "client": .string(clientName),
            "message": .string(message), "type": .string(type), "asked_at": .string("\(askedAt)"),
            "expires_at": .string("\(expiresAt)"),
        ])
    }
}

extension OpenedChallenge {
    fileprivate var json: JSONValue {
        .members([
            "id": .string("\(id)"), "client": .string(client.name), "message": .string(message), "type": .string(type),
            "details": .array(
                details.map { .members(["label": .string($0.label), "value": .string($0.value)]) }),
            "context": context.map(JSONValue.string), "signing_data": signingData.map(JSONValue.string),
            "number_length": numberLength.map { .integer(Int64($0)) },
            "methods": .array(methods.map { .string($0.rawValue) }), "claimed": .bool(isClaimed), "link": .bool(isLink),
            "attempts_left": attemptsLeft.map { .integer(Int64($0)) },
            "expires_at": .string("\(expiresAt)"),
            "signed": .array(signedLines.map(JSONValue.string)),
        ])
    }
}
