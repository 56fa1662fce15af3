import ArgumentParser
import Countersign
import CountersignWire
import Encodings
import Foundation
import UnixSignals

/// Where somebody signs in, and as what app.
struct SignInOptions: ParsableArguments {
    @Option(
        name: [.long, .customLong("url")],
        help: "The issuer's URL. (default: $COUNTERSIGN_URL, else http://127.0.0.1:8080)")
    var issuer: String?

    @Option(help: "The client's id, registered with --profile native and http://127.0.0.1/callback.")
    var client: String

    @Option(help: "The folder with the tokens. (default: $COUNTERSIGN_DEVICE_HOME, else ./countersign-device)")
    var home: String?

    /// The place that the options name.
    var place: SignInPlace { SignInPlace(issuer: issuer, client: client, home: home) }
}

/// Where somebody signs in, as what app, and where the tokens are kept.
struct SignInPlace {
    /// The issuer's URL.
    let issuer: String
    /// The client's id.
    let client: String
    /// The folder with the tokens; nil for the usual one.
    let home: String?

    init(issuer: String?, client: String, home: String?) {
        self.issuer =
            issuer ?? ProcessInfo.processInfo.environment["COUNTERSIGN_URL"] ?? "http://127.0.0.1:8080"
        self.client = client
        self.home = home
    }

    /// The SDK's client.
    ///
    /// - Parameters:
    ///   - port: the port of the listener; nil where no browser is opened.
    ///   - scopes: the scopes to ask for; empty for the usual ones.
    func openIDClient(port: Int? = nil, scopes: [String] = []) throws -> OpenIDClient {
        guard let issuer = URL(string: issuer), let redirectURI = LoopbackListener.redirectURI(port: port) else {
            throw CommandError("\(issuer) is no URL.", .usage)
        }
        let registration =
            scopes.isEmpty
            ? OpenIDRegistration(issuer: issuer, clientID: client, redirectURI: redirectURI)
            : OpenIDRegistration(issuer: issuer, clientID: client, redirectURI: redirectURI, scopes: scopes)
        return try OpenIDClient(
            registration, vault: try DeviceFolder.vault(in: DeviceFolder.url(home)), transport: DeviceFolder.transport)
    }
}

/// The command `countersign login`.
struct LoginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "login", abstract: "Sign a person in, through the browser or without one, and show who it is.",
        discussion:
            """
            The address to open is printed on standard error, and who signed in on standard output. The browser must \
            run on this machine: it comes back to a port of it. The tokens are kept in the folder, readable by its \
            owner only, until `countersign logout`.

            With --by-device no browser is needed: the device that is enrolled in the folder signs its user in by its \
            own key, and by its PIN with --pin, which is read from standard input.

            With --device no browser is needed here, and nothing need be enrolled in the folder: a number is shown \
            on standard error, and the person whom --login-hint names types it on a device of theirs. Without \
            --login-hint an address and a code are shown, for a browser anywhere. Ctrl-C gives up: nobody is asked \
            any more.
            """)

    @Option(help: "A scope to ask for; may be repeated. (default: openid and offline_access)")
    var scope: [String] = []

    @Option(help: "The oldest authentication to take, in seconds.")
    var maxAge: Int64?

    @Option(help: "How long to wait for the browser, in seconds.")
    var wait = 300

    @Flag(help: "Open the browser, too: by xdg-open, on macOS by open.")
    var open = false

    @Flag(help: "Sign in by the device that is enrolled in the folder, the newest of several, without a browser.")
    var byDevice = false

    @Flag(help: "Prove the PIN of the device, too.")
    var pin = false

    @Flag(help: "Sign in by an approval on another device, without a browser here.")
    var device = false

    @Option(
        help: """
            Who is to sign in: an address, or external_id: and the client's own name for them. With --device their \
            devices are asked.
            """)
    var loginHint: String?

    @OptionGroup var signIn: SignInOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (1...3600).contains(wait) else { throw ValidationError("--wait takes 1 to 3600 seconds.") }
        guard (maxAge ?? 0) >= 0 else { throw ValidationError("--max-age takes 0 or more seconds.") }
        guard byDevice || !pin else { throw ValidationError("--pin goes with --by-device.") }
        guard !byDevice || (maxAge == nil && !open) else {
            throw ValidationError("--by-device opens no browser, and signs in now.")
        }
        guard !byDevice || scope.allSatisfy({ $0 != "enroll" && $0 != "offline_access" }) else {
            throw ValidationError("--by-device gives neither enroll nor offline_access.")
        }
        guard !byDevice || (!device && loginHint == nil) else {
            throw ValidationError("--by-device signs in the user of the device in the folder, and asks nobody.")
        }
        guard !device || (maxAge == nil && !open) else {
            throw ValidationError("--device opens no browser, and signs in now.")
        }
        guard !device || !scope.contains("enroll") else { throw ValidationError("--device never gives enroll.") }
    }

    mutating func run() async throws {
        let signedIn =
            try await device ? signedInElsewhere() : byDevice ? signedInByDevice() : signedInThroughBrowser()
        output.print(signedIn.json, signedIn.text)
    }

    private func signedInByDevice() async throws -> SignedIn {
        let home = try HomeOptions.parse(signIn.home.map { ["--home", $0] } ?? [])
        guard let enrollment = try await home.authenticator(issuer: signIn.place.issuer).enrollments.last else {
            throw CountersignError.notEnrolled
        }
        let proof = pin ? Proof.pin(try await PIN(typed: "PIN:")) : .confirmation
        return try await signIn.place.openIDClient(scopes: scope).signIn(by: enrollment, with: proof)
    }

    /// Signs in by an approval on another device; a signal to stop gives up, and takes back what was asked.
    private func signedInElsewhere() async throws -> SignedIn {
        let client = try signIn.place.openIDClient(scopes: scope)
        let (hint, isJSON) = (loginHint, output.json)
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        return try await withThrowingTaskGroup(of: SignedIn?.self) { group in
            group.addTask {
                try await client.signInElsewhere(loginHint: hint) { prompt in
                    // Standard output is for who signed in.
                    ProgressLine.standardError((isJSON ? ShownText.json(prompt.json) : prompt.text) + "\n")
                }
            }
            group.addTask {
                for await _ in signals { break }
                return nil
            }
            defer { group.cancelAll() }
            while let result = try await group.next() {
                if let result { return result }
                // How it has ended is what the sign-in says, which may have been faster.
                group.cancelAll()
            }
            throw CountersignError.cancelled
        }
    }

    private func signedInThroughBrowser() async throws -> SignedIn {
        let listener = LoopbackListener()
        let (ports, ready) = AsyncStream.makeStream(of: Int.self)
        return try await withThrowingTaskGroup(of: SignedIn?.self) { group in
            group.addTask {
                defer { ready.finish() }
                try await listener.run { ready.yield($0) }
                return nil
            }
            group.addTask { [self] in
                for await port in ports {
                    let browser = TerminalBrowser(listener: listener, limit: wait, isOpened: open)
                    return try await signIn.place.openIDClient(port: port, scopes: scope)
                        .authorize(in: browser, SignInRequest(loginHint: loginHint, maxAge: maxAge))
                }
                return nil
            }
            defer { group.cancelAll() }
            while let result = try await group.next() {
                if let result { return result }
            }
            throw CountersignError.cancelled
        }
    }
}

/// The command `countersign logout`.
struct LogoutCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logout", abstract: "Take back the tokens of `countersign login`, and forget them.",
        discussion:
            "Where the issuer cannot be told, the tokens are forgotten all the same. The browser stays as it is.")

    @OptionGroup var signIn: SignInOptions
    @OptionGroup var output: OutputOptions

    mutating func run() async throws {
        switch try await signIn.place.openIDClient().signOut() {
        case .complete: output.print(["signed_out": true, "revoked": true], "Signed out.")
        case .onlyOnThisDevice(let error):
            output.print(
                ["signed_out": true, "revoked": false, "error": ErrorReport(error).json],
                """
                Signed out on this device only: the issuer still takes the tokens until they end.
                \(ShownText.line("\(error)"))
                """)
        case .nobody: throw CountersignError.notSignedIn
        }
    }
}

extension SignedIn {
    /// Who signed in, in the words of the claims.
    fileprivate var json: JSONValue {
        .members([
            "sub": .string(identity.subject), "acr": identity.acr.map(JSONValue.string),
            "amr": .array(identity.amr.map(JSONValue.string)), "auth_time": identity.authTime.map(JSONValue.integer),
            "email": identity.email.map(JSONValue.string), "scope": .string(scopes.joined(separator: " ")),
        ])
    }

    fileprivate var text: String {
        var lines = ["Signed in: \(ShownText.line(identity.subject))"]
        if let email = identity.email { lines.append("Email: \(ShownText.line(email))") }
        if let time = identity.authTime { lines.append("At: \(Timestamp(seconds: time))") }
        if !identity.amr.isEmpty { lines.append("By: \(ShownText.line(identity.amr.joined(separator: ", ")))") }
        if let acr = identity.acr { lines.append("Strength: \(ShownText.line(acr))") }
        return lines.joined(separator: "\n")
    }
}
