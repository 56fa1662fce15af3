import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import Testing

@testable import CountersignServer

/// A client that asks by every door which shows no number, and a user who has one device of each kind.
///
/// The client keeps a secret, as CIBA needs it, and so shows it at each vendor's calls as well.
struct EveryDoorScene: Sendable {
    static let address = "anna@example.com"

    let pages: SignInPageScene
    /// The device that signs JWTs.
    let okta: OktaPhone
    /// The device that signs events.
    let cotter: CotterDevice
    /// Where the client is told of ends.
    let receiver: String

    var server: TestServer { pages.server }
    /// The device with OpenPGP.
    var phone: TestPhone { pages.scene.phone }
    var shop: Caller { pages.scene.shop }
    var user: String { pages.scene.user }
    var events: CotterEventScene { CotterEventScene(app: CotterScene(pages: pages), device: cotter) }
    var portal: OneWelcomeScene { OneWelcomeScene(scene: pages.scene) }

    /// Runs a body with the client and the user; the type `cotter` takes answers of each kind, and is asked by at each
    /// door.
    ///
    /// - Parameters:
    ///   - receiver: where the client is told of ends.
    ///   - body: the body to run.
    static func with(
        toldAt receiver: String, _ body: @escaping @Sendable (EveryDoorScene) async throws -> Void
    ) async throws {
        let client: JSONObject = [
            "vendors": ["cotter", "okta", "onewelcome"], "waive_enrollment_approval": true,
            "callback_uris": [.string(receiver)],
        ]
        try await Scene.with(client: client) { scene in
            let type = try await scene.administrator.call(.PUT, "/v1/admin/types/cotter", CotterEventScene.type)
            _ = try type.success()
            let first = SignInPageScene(
                scene: scene, browser: TestBrowser(scene.server), credential: scene.shop.credential)
            try await first.set([
                "asked_browsers": "all", "ways": ["device", "email"], "registration": "open", "device_grant": true,
                "device_login_hint": true, "backchannel_token_delivery_mode": "ping",
                "backchannel_client_notification_endpoint": .string(receiver), "backchannel_type": "cotter",
            ])
            try await scene.server.awaitKeys(["RSA"], at: "/oauth2/jwks")
            try await scene.server.awaitKeys(["EC", "OKP"], at: "/api/v0/token/jwks")
            // The device that somebody enrolls by signing in is their first, which counts at once.
            let page = try await first.signInByMail(Self.address, ["scope": OktaScene.scopes])
            let code = try #require(page.result["code"], "\(page.reply)")
            let tokens = try await first.redeem(code).success()
            let token = try #require(tokens["access_token"]?.string)
            var okta = OktaPhone(server: scene.server, client: scene.shop.clientID, token: token)
            okta.enrollment = try okta.read(try await okta.enroll().success())
            let phone = try await TestPhone.enrolled(for: okta.user, by: scene.shop, at: scene.server)
            let own = Scene(server: scene.server, shop: scene.shop, user: okta.user, phone: phone)
            let made = EveryDoorScene(
                pages: SignInPageScene(scene: own, browser: first.browser, credential: first.credential), okta: okta,
                cotter: try CotterDevice(), receiver: receiver)
            _ = try await made.events.enroll(made.cotter, for: okta.user).success()
            try await body(made)
        }
    }

    /// A call of Cotter's, by the client's server.
    func call(_ method: HTTPMethod, _ path: String, _ body: JSONValue? = nil) async throws -> Reply {
        var headers = [("API_KEY_ID", pages.credential.id), ("Authorization", shop.authorization)]
        if body != nil { headers.append(("Content-Type", "application/json")) }
        return try await server.send(
            method, "/api/v0\(path)", headers: headers, body: body?.encoded, isContract: false)
    }

    /// The event that the user's devices are asked about; null for none.
    func pendingEvent() async throws -> JSONValue { try await call(.GET, "/event/new/\(user)").success() }

    /// What the device that signs JWTs is asked.
    func pendingJWTs() async throws -> [String] {
        let fields = [
            ("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"), ("scope", OktaScene.maintaining),
            ("assertion", try await okta.assertion()),
        ]
        // Its tokens do not outlive the rounds of a test.
        let given = try await pages.token(fields, basic: pages.credential, at: "/oauth2/v1/token").success()
        let token = try #require(given["access_token"]?.string)
        return try await okta.pending(by: token)
    }

    /// The ids of what the device with OpenPGP is asked.
    func pendingQuestions() async throws -> [String] {
        let list = try await phone.send(.GET, "/v1/enrollments/self/challenges").success()
        return list["challenges"]?.array?.compactMap { $0["id"]?.string } ?? []
    }
}

// MARK: - Asking

/// By which calls a client asks.
enum AskingDoor: CaseIterable, Sendable {
    case native, backchannel, cotter, oneWelcome
}

/// How a question ends; the words are those of its states.
enum QuestionEnd: String, Sendable {
    case approved, denied, cancelled, expired
}

/// A question that was put to all devices.
struct PutQuestion: Sendable {
    let door: AskingDoor
    /// The challenge, as the phone knows it.
    let challenge: String
    /// What the client got that asked.
    let asked: Reply
}

extension EveryDoorScene {
    private static let portalPath = "/oauth/api/v3/authenticate"

    /// Asks, and waits until the devices are asked.
    func ask(by door: AskingDoor) async throws -> PutQuestion {
        let asked: Reply
        switch door {
        case .native:
            let body: JSONValue = [
                "user": .string(user), "type": "cotter", "message": "Pay EUR 1,250.00 to ACME GmbH?",
                "callback_uri": .string(receiver),
            ]
            asked = try await shop.call(.POST, "/v1/challenges", body)
        case .backchannel:
            let fields = [
                ("scope", "openid"), ("login_hint", Self.address), ("client_notification_token", "t-1"),
            ]
            asked = try await pages.token(fields, basic: pages.credential, at: OAuthDoor.backchannelPath)
        case .cotter: asked = try await call(.POST, "/event/create_pending", events.question(user))
        case .oneWelcome:
            // Version 4 names one device.
            let form = OneWelcomeScene.changed(
                portal.push,
                [
                    ("user_id", user), ("device_id", nil), ("app_id", pages.credential.id), ("type", "cotter"),
                    ("callback_uri", receiver),
                ])
            asked = try await portal.post("\(Self.portalPath)/user", form)
        }
        _ = try asked.success()
        return PutQuestion(door: door, challenge: try await pages.pending(), asked: asked)
    }

    /// The client takes its question back; an app that was written for Cotter cannot.
    func withdraw(_ question: PutQuestion) async throws -> Reply {
        guard question.door == .backchannel else {
            return try await shop.call(.DELETE, "/v1/challenges/\(question.challenge)")
        }
        let id = try #require(question.asked.json["auth_req_id"]?.string)
        return try await pages.token([("token", id)], basic: pages.credential, at: "/oauth2/revoke")
    }

    /// What the client sees that asked, in the words of its door.
    func seen(_ question: PutQuestion) async throws -> String {
        switch question.door {
        case .native: return try await pages.scene.state(of: question.challenge)
        case .backchannel:
            let reply = try await pages.poll(question.asked)
            return reply.status == 200 ? "tokens" : reply.json["error"]?.string ?? "\(reply)"
        case .cotter:
            let id = try #require(question.asked.json["ID"]?.integer)
            let reply = try await call(.GET, "/event/get/\(id)?oauth_token=true")
            if reply.status == 404 { return reply.json["msg"]?.string ?? "\(reply)" }
            guard reply.status == 200, reply.json["new"] == false, let isApproved = reply.json["approved"]?.bool else {
                return "\(reply)"
            }
            let hasTokens = reply.json["oauth_token"]?["access_token"]?.string != nil
            guard isApproved == hasTokens else { return "\(reply)" }
            return isApproved ? "tokens" : "denied"
        case .oneWelcome:
            let id = try #require(question.asked.json["transaction_id"]?.string)
            let result = try await portal.call(.GET, "\(Self.portalPath)/transaction/\(id)").success()
            let reason = result["not_authenticated_reason"]?["reason"]?.string
            return result["is_authenticated"] == true && reason == nil ? "authenticated" : reason ?? "\(result)"
        }
    }

    /// What the client is told of an end, unasked; nil for nothing.
    func expectedCall(_ question: PutQuestion, ended end: QuestionEnd) -> JSONValue? {
        switch question.door {
        case .native:
            return ["type": .string("challenge.\(end.rawValue)"), "challenge": .string(question.challenge)]
        // A ping says that somebody has decided.
        case .backchannel:
            guard end == .approved || end == .denied else { return nil }
            return ["auth_req_id": question.asked.json["auth_req_id"] ?? .null]
        case .cotter: return nil
        case .oneWelcome:
            return [
                "callback_uri": .string(receiver), "transaction_id": question.asked.json["transaction_id"] ?? .null,
            ]
        }
    }

    /// What a client was told, as ``expectedCall(_:ended:)`` has it.
    static func told(_ body: [UInt8]) throws -> JSONValue {
        let told = try JSONValue(parsing: body)
        guard let type = told["type"] else { return told }
        return ["type": type, "challenge": told["challenge"]?["id"] ?? .null]
    }
}

extension QuestionEnd {
    /// What the client sees that asked; see ``EveryDoorScene/seen(_:)``.
    func word(at door: AskingDoor) -> String {
        switch (door, self) {
        case (.native, _): rawValue
        case (.backchannel, .approved), (.cotter, .approved): "tokens"
        case (.backchannel, .expired): "expired_token"
        case (.backchannel, _): "access_denied"
        case (.cotter, .denied): "denied"
        case (.cotter, _): EveryDoorScene.over
        case (.oneWelcome, .approved): "authenticated"
        case (.oneWelcome, .denied): "not_accepted"
        case (.oneWelcome, .cancelled): "invalid_request"
        case (.oneWelcome, .expired): "invalid_answer"
        }
    }
}

// MARK: - Answering

/// An answer by one of the three devices.
struct DeviceAnswer: Hashable, Sendable {
    /// The kinds of devices.
    enum Kind: CaseIterable, Sendable {
        case openPGP, okta, cotter
    }

    let kind: Kind
    let isApproved: Bool

    static let all = Kind.allCases.flatMap { kind in
        [DeviceAnswer(kind: kind, isApproved: true), DeviceAnswer(kind: kind, isApproved: false)]
    }
}

/// What a device is told of its answer.
enum ToldDevice: Hashable, Sendable {
    /// The answer has decided.
    case decided
    /// The question was over.
    case tooLate
    /// The JWT came before, and has decided nothing.
    case spent
    /// How the event stands, whatever this answer did.
    case event(isApproved: Bool)
    /// There is no such event of which the signature could be.
    case notSigned
    /// The event is over.
    case eventOver
    /// Something that no device should be told.
    case somethingElse(String)
}

/// An answer, and what its device was told.
struct SentAnswer: Sendable {
    let answer: DeviceAnswer
    let told: ToldDevice
}

/// The answers to one question, each made while it was open, so that it can be sent whenever it may be.
struct PreparedAnswers: Sendable {
    let scene: EveryDoorScene
    let challenge: String
    fileprivate let messages: [Bool: [UInt8]]
    /// The challenge as the device got it that signs JWTs.
    fileprivate let jwt: String
    fileprivate let tokens: [Bool: String]
    fileprivate let event: JSONValue
    fileprivate let signed: [Bool: JSONValue]

    /// Sends an answer; the same one is the same bytes.
    func send(_ answer: DeviceAnswer) async throws -> ToldDevice {
        switch answer.kind {
        case .openPGP:
            let message = try #require(messages[answer.isApproved])
            let reply = try await scene.phone.answer(challenge, message: message)
            let state: JSONValue = answer.isApproved ? "approved" : "denied"
            if reply.status == 200, reply.json["state"] == state { return .decided }
            return reply.status == 409 && reply.code == "already_ended" ? .tooLate : .somethingElse("\(reply)")
        case .okta:
            let token = try #require(tokens[answer.isApproved])
            let reply = try await scene.okta.verify(token, at: jwt)
            if reply.status == 200, answer.isApproved, reply.json == ["status": "SUCCESS"] { return .decided }
            if reply.status == 204, !answer.isApproved, reply.body.isEmpty { return .decided }
            switch (reply.status, reply.json["errorCode"]?.string) {
            case (404, "E0000007"): return .tooLate
            case (400, "E0000001"): return .spent
            default: return .somethingElse("\(reply)")
            }
        case .cotter:
            let body = try #require(signed[answer.isApproved])
            let number = try #require(event["ID"]?.integer)
            let reply = try await scene.call(.POST, "/event/respond/\(number)", body)
            if reply.status == 200, reply.json["new"] == false, let isApproved = reply.json["approved"]?.bool {
                return .event(isApproved: isApproved)
            }
            switch (reply.status, reply.json["msg"]?.string) {
            case (400, EveryDoorScene.notSigned): return .notSigned
            case (404, EveryDoorScene.over): return .eventOver
            default: return .somethingElse("\(reply)")
            }
        }
    }
}

extension EveryDoorScene {
    static let notSigned = "no trusted device of the user has signed this"
    static let over = "there is no such event, or it is over"

    /// Has every device make its yes and its no, and expects that each of them is asked this question alone.
    func prepare(_ question: PutQuestion, _ comment: Comment) async throws -> PreparedAnswers {
        let asked = try await pendingQuestions()
        #expect(asked == [question.challenge], comment)
        let jwts = try await pendingJWTs()
        #expect(jwts.count == 1, comment)
        let jwt = try #require(jwts.first, comment)
        let transaction = try OktaPhone.claims(jwt)["transactionId"]
        #expect(transaction == .string(question.challenge), comment)
        let event = try await pendingEvent()
        let name: JSONValue = question.door == .cotter ? "LOGIN" : "COTTER"
        #expect(event["event"] == name, comment)
        let shown = try await phone.open(question.challenge).question
        var messages: [Bool: [UInt8]] = [:]
        var tokens: [Bool: String] = [:]
        var signed: [Bool: JSONValue] = [:]
        for isApproved in [true, false] {
            let decision: Decision = isApproved ? .approved(.confirm, number: nil) : .denied
            messages[isApproved] = try await phone.seal(phone.receipt(of: shown, decision).text)
            let consent = isApproved ? "APPROVED_CONSENT_PROMPT" : "DENIED_CONSENT_PROMPT"
            tokens[isApproved] = try await okta.answer(to: jwt, consent)
            signed[isApproved] = try await events.answer(event, isApproved, user: user)
        }
        return PreparedAnswers(
            scene: self, challenge: question.challenge, messages: messages, jwt: jwt, tokens: tokens, event: event,
            signed: signed)
    }

    /// Sends answers: one after the other, or all at once.
    func send(_ answers: [DeviceAnswer], of prepared: PreparedAnswers, atOnce: Bool) async throws -> [SentAnswer] {
        guard atOnce else {
            var sent: [SentAnswer] = []
            for answer in answers { sent.append(SentAnswer(answer: answer, told: try await prepared.send(answer))) }
            return sent
        }
        return try await withThrowingTaskGroup(of: SentAnswer.self) { group in
            for answer in answers {
                group.addTask { SentAnswer(answer: answer, told: try await prepared.send(answer)) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}
