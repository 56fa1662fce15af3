import Countersign
import CountersignWire
import Encodings
import Foundation
import NIOHTTP1
import OneginiSDKiOS
import ServerTestSupport
import Synchronization
import Testing

@Suite("OneWelcome's calls: registering", .timeLimit(.minutes(15)))
@MainActor
struct OneginiRegistrationTests {
    @Test("By a ticket: the device is enrolled, the PIN set, the user logged in; a relaunch finds them logged out")
    func ticket() async throws {
        try await OneginiWorld.with { world in
            let app = try await world.launched()
            #expect(app.userProfiles.isEmpty && app.authenticatedUserProfile == nil && app.accessToken == nil)
            #expect(app.identityProviders.map(\.identifier) == ["browser", "ticket"] && !app.isStateless)
            let person = OneginiPerson()
            person.ticket = try await world.shop.makeTicket(for: world.user)
            person.chosen = ["11111", "12345", "123", OneginiWorld.pin]
            app.registerUserWith(identityProvider: app.identityProviders.last, scopes: nil, delegate: person)
            #expect(try await person.end() == "registered by ticket")
            #expect(
                person.asked == [
                    "ticket", "new PIN of 5", "new PIN of 5 after pin-validation 9013",
                    "new PIN of 5 after pin-validation 9012", "new PIN of 5 after pin-validation 9014",
                ])
            let profile = try #require(app.userProfiles.first)
            #expect(profile.isEqual(to: app.authenticatedUserProfile) && app.accessToken != nil)
            #expect(app.authenticators(.registered, for: profile).map(\.identifier) == ["pin"])
            #expect(app.preferredAuthenticator?.type == .pin)
            let url = try #require(URL(string: "https://api.example.com/orders"))
            #expect(try await app.headerFields(for: "GET", url)["Authorization"] != nil)
            #expect(try await world.deviceCount() == 1)
            let again = try await world.launched()
            #expect(again.userProfiles.map(\.profileId) == [profile.profileId])
            #expect(again.authenticatedUserProfile == nil && again.accessToken == nil)
            #expect(try await OneginiTold.pending(again).requests.isEmpty)
        }
    }

    @Test("Whoever gives up is not half registered, and what cannot be is told by its number")
    func failures() async throws {
        try await OneginiWorld.with { world in
            let app = try await world.launched()
            @MainActor func outcome(_ person: OneginiPerson) async throws -> String {
                app.registerUserWith(identityProvider: app.identityProviders.last, scopes: nil, delegate: person)
                return try await person.end()
            }
            let person = OneginiPerson()
            #expect(try await outcome(person) == "generic 9006")
            person.ticket = "no ticket"
            #expect(try await outcome(person) == "registration 10022")
            person.ticket = try await world.shop.makeTicket(for: world.user)
            person.chosen = []
            #expect(try await outcome(person) == "generic 9006")
            #expect(try await world.deviceCount() == 0 && app.userProfiles.isEmpty)
            person.chosen = [OneginiWorld.pin]
            #expect(try await outcome(person) == "registration 10021", "a ticket is good once")
            app.registerUserWith(identityProvider: nil, scopes: nil, delegate: person)
            #expect(try await person.end() == "generic 9006", "nobody opens the browser")
            app.registerStatelessUserWith(identityProvider: nil, scopes: nil, delegate: person)
            #expect(try await person.end() == "registration 9034")
            world.network.fail()
            person.ticket = try await world.shop.makeTicket(for: world.user)
            #expect(try await outcome(person) == "generic 9000")
        }
    }

    @Test("Before the start, and with a configuration that lacks something, every call fails and none hangs")
    func notStarted() async throws {
        let client = ClientBuilder().setConfigModel(ConfigModel(dictionary: [:])).buildAlone()
        let (app, person) = (client.userClient, OneginiPerson())
        let nobody = UserProfileImplementation(profileId: "enr_nobody")
        #expect(await OneginiTold.by { client.start(completion: $0) } == "generic 10001")
        app.registerUserWith(identityProvider: nil, scopes: nil, delegate: person)
        #expect(try await person.end() == "generic 10001")
        app.authenticateUserWith(profile: nobody, authenticator: nil, delegate: person)
        #expect(try await person.end() == "generic 10001")
        app.changePin(delegate: person)
        #expect(try await person.end() == "change-pin 9010")
        #expect(await OneginiTold.by { app.enrollMobileAuth($0) } == "mobile-auth-enrollment 9010")
        #expect(
            await OneginiTold.by { app.enrollPushMobileAuth(with: Data(), completion: $0) }
                == "mobile-auth-enrollment 9010")
        #expect(await OneginiTold.by { app.deregister(user: nobody, completion: $0) } == "generic 10001")
        #expect(
            await OneginiTold.by { app.implicitlyAuthenticate(user: nobody, with: nil, completion: $0) }
                == "generic 10001")
        #expect(await OneginiTold.by { app.validatePolicyCompliance(for: "1", completion: $0) } == "generic 10001")
        #expect(try await OneginiTold.pending(app).error == "generic 10001")
        let (profile, error) = await OneginiTold.logout(app)
        #expect(profile == nil && error.isEmpty)
        app.handleOTPMobileAuthRequest(otp: "x", delegate: person)
        #expect(try await person.end() == "OTP: mobile-auth-request 9010")
    }

    @Test("In the browser, on a second device: the PIN is chosen, and the first one approves it by the number")
    func browser() async throws {
        try await OneginiWorld.with { world in
            let issuer = try #require(URL(string: "\(world.server.issuer)"))
            let phone = try await Countersign.Authenticator(
                issuer: issuer, app: AppDescription(name: "Acme", version: "3.1", deviceName: "Phone"),
                vault: MemoryVault())
            _ = try await phone.enroll(with: .ticket(try await world.shop.makeTicket(for: world.user)))
            let app = try await world.launched()
            let person = OneginiPerson()
            let visitor = OneginiVisitor(server: world.server, phone: phone)
            person.browser = { try await visitor.open($0) }
            person.approved = { number in
                let question = try await OneginiVisitor.asked(phone).open()
                try await question.approve(with: .confirmation, number: number)
            }
            app.registerUserWith(identityProvider: nil, scopes: nil, delegate: person)
            #expect(try await person.end() == "registered by browser")
            #expect(person.asked == ["browser", "new PIN of 5", "approval"])
            #expect(app.authenticatedUserProfile != nil && app.accessToken != nil)
            #expect(try await world.deviceCount() == 2)
        }
    }
}

/// A browser without scripts, whose person signs in with a phone that they trust.
private struct OneginiVisitor: Sendable {
    let server: TestServer
    let phone: Countersign.Authenticator
    private let cookies = OneginiCookies()

    init(server: TestServer, phone: Countersign.Authenticator) {
        (self.server, self.phone) = (server, phone)
    }

    func open(_ url: URL) async throws -> URL {
        let first = try await send(.GET, "\(url.path())?\(url.query() ?? "")")
        let second = try await submit(first, to: "/signin/choose", "identifier=customer-1@example.com")
        let place = try #require(
            try await submit(second, to: "/signin/ask", "way=device").headers["location"], "\(second)")
        let page = Self.text(try await send(.GET, place))
        let number = try #require(page.firstMatch(of: #/aria-label="([0-9 ,]+)"/#)).output.1.filter(\.isNumber)
        try await Self.asked(phone).open().approve(with: .confirmation, number: String(number))
        let done = try await send(.GET, "\(place)/done")
        let onward = Self.text(done).firstMatch(of: #/http-equiv="refresh" content="0;url=([^"]*)"/#)
        let back = try #require(done.headers["location"] ?? onward.map { String($0.output.1) }, "\(done)")
        return try #require(URL(string: back.replacing("&amp;", with: "&")))
    }

    /// What a phone is asked, as soon as the server has put it there.
    static func asked(_ phone: Countersign.Authenticator) async throws -> PendingChallenge {
        while true {
            if let pending = try await phone.pendingChallenges().first { return pending }
            try await Task.sleep(for: .milliseconds(25))
        }
    }

    private func submit(_ page: Reply, to path: String, _ field: String) async throws -> Reply {
        let sealed = try #require(Self.text(page).firstMatch(of: #/name="request" value="([^"]*)"/#), "\(page)")
        return try await send(.POST, path, form: "request=\(sealed.output.1)&\(field)")
    }

    private func send(_ method: HTTPMethod, _ path: String, form: String? = nil) async throws -> Reply {
        var headers = form == nil ? [] : [("Content-Type", "application/x-www-form-urlencoded")]
        let cookie = cookies.header
        if !cookie.isEmpty { headers.append(("Cookie", cookie)) }
        let reply = try await server.send(
            method, path, headers: headers, body: form.map { Array($0.utf8) }, isContract: false)
        if let set = reply.headers["set-cookie"] { cookies.set(set) }
        return reply
    }

    private static func text(_ reply: Reply) -> String { String(decoding: reply.body, as: UTF8.self) }
}

/// The cookies of one browser.
private final class OneginiCookies: Sendable {
    private let cookies = Mutex<[String: String]>([:])

    var header: String { cookies.withLock { $0.map { "\($0.key)=\($0.value)" }.joined(separator: "; ") } }

    func set(_ field: String) {
        let pair = field.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
        cookies.withLock { $0[String(pair[0])] = String(pair[1]) }
    }
}
