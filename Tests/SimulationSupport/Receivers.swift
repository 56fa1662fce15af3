import AsyncHTTPClient
import CountersignCore
import CountersignDelivery
import CountersignWire
import Encodings
import NIOCore
import NIOHTTP1

/// The services outside the deployment that it calls: the portals' servers, push services and hooks.
final class Receivers: AuthenticatorHooks, @unchecked Sendable {
    /// The state of a receiver.
    private enum Mood: CaseIterable { case well, hanging, failing, forgetful, gone }

    struct Hung: Error {}

    private unowned let world: SimulatedWorld
    private var moods: [String: (mood: Mood, until: Duration)] = [:]
    private var isWell = false

    init(_ world: SimulatedWorld) {
        self.world = world
    }

    /// All receivers work from now on.
    func recover() { isWell = true }

    /// Receives a callback.
    ///
    /// - Returns: the status of the reply.
    func post(_ request: HTTPClientRequest, _ life: Life) async throws -> UInt {
        try await world.pause(world.latency())
        guard !life.isOver else { throw Hung() }
        let body = Array(try await request.body?.collect(upTo: 1 << 20).readableBytesView ?? ByteBufferView())
        let mood = mood(of: request.url)
        switch mood {
        case .hanging:
            try await world.pause(.seconds(15))
            throw Hung()
        case .failing: return 500
        case .gone: return 410
        case .well, .forgetful: break
        }
        let isTaken = mood == .well
        if let centre = world.callCentres.first(where: { "\($0.receiver)" == request.url }) {
            try centre.hear(body, by: request.headers.first(name: "authorization"))
            if isTaken { try await world.pause(world.latency()) }
            return isTaken ? 204 : 500
        }
        guard let id = request.headers.first(name: "webhook-id"), let json = try? JSONValue(parsing: body) else {
            world.violate(9, "a callback without an id, or without JSON")
            return 400
        }
        let challenge = json["challenge"]?["id"]?.string
        let state = json["challenge"]?["state"]?.string
        let told = state.map { Ledger.Told(state: $0, reason: json["challenge"]?["reason"]?.string) }
        world.trace.note("receiver", "gets \(id) of \(challenge ?? "-") \(state ?? "-")")
        world.blame(
            world.ledger.arrive(id, Ledger.Arrived(body: body, challenge: challenge, told: told, isTaken: isTaken)))
        if let told, let challenge = challenge.flatMap({ ChallengeID($0) }), told.isEnd {
            world.tell("callback", of: challenge, told)
        }
        if isTaken { try await world.pause(world.latency()) }
        return isTaken ? 204 : 500
    }

    private func mood(of url: String) -> Mood {
        guard !isWell else { return .well }
        let now = world.scheduler.elapsed
        if let known = moods[url], known.until > now { return known.mood }
        let mood = world.happens(percent: 75) ? Mood.well : world.pick(Mood.allCases) ?? .well
        moods[url] = (mood, now + .seconds(world.draw(10...300)))
        return mood
    }

    /// Receives a push and delivers it to the phone.
    func push(_ request: HTTPClientRequest, _ life: Life) async throws -> UInt {
        try await world.pause(world.latency())
        guard !life.isOver else { throw Hung() }
        if !isWell, world.happens(percent: 10) { return 503 }
        guard let path = request.url.split(separator: "/").last,
            let phone = world.users.lazy.flatMap(\.phones).first(where: { $0.pushPath == path })
        else { return 404 }
        world.ledger.counts.pushes += 1
        if isWell || world.happens(percent: 90) { phone.hear() }
        return 200
    }

    /// Receives a text message and delivers it to the telephone, sometimes twice, because it is sent again.
    func text(_ request: HTTPClientRequest, _ life: Life) async throws -> UInt {
        try await world.pause(world.latency())
        guard !life.isOver else { throw Hung() }
        if !isWell, world.happens(percent: 10) { return 503 }
        let body = Array(try await request.body?.collect(upTo: 1 << 20).readableBytesView ?? ByteBufferView())
        let words = (try? JSONValue(parsing: body))?["text"]?.string?.split(separator: " ") ?? []
        guard let code = words.lazy.compactMap({ EntryNumber($0) }).first,
            let key = words.first(where: { $0.hasPrefix("(") })?.dropFirst().dropLast(),
            let number = Int(key.prefix(1)),
            number <= world.portals.count
        else {
            world.violate(0, "a text message without a code")
            return 400
        }
        world.ledger.keepSecret(code.digits)
        world.scheduler.start { [world] in await world.portals[number - 1].type(code, of: String(key)) }
        return isWell || world.happens(percent: 90) ? 200 : 500
    }

    /// Judges the data of a custom authenticator at random.
    func ask(_ question: HookQuestion) async -> HookVerdict? {
        try? await world.pause(world.latency())
        let chance = isWell ? 0 : world.draw(0...99)
        let result: HookVerdict.Result? =
            switch chance {
            case ..<65: .ok
            case ..<80: .retry
            case ..<84: .fail
            case ..<87: .notRegistered
            default: nil
            }
        if case .verify(let challenge, _) = question.purpose, result == .ok {
            world.ledger.shown.insert("verdict on \(challenge) of \(question.enrollment)")
        }
        return result.map { HookVerdict($0) }
    }
}
