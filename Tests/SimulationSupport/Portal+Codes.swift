import CountersignCore
import CountersignWire
import Encodings

/// The codes that users bring to the portal: from a text message, or from a browser that returns after a link.
extension Portal {
    /// How often a code from a text message may be entered.
    static let textAttempts = 3
    /// How often a challenge may be announced again.
    static let resends = 3

    /// Receives a text message: the user enters the code correctly, wrongly, twice, late, or not at all.
    func type(_ code: EntryNumber, of key: String) async {
        guard let id = world.ledger.asked[key], let value = UInt32(code.digits) else { return }
        let wrong = EntryNumber(value: (value + 1) % 1_000_000)
        let habit = world.draw(0...9)
        guard habit < 9 else { return }
        if habit == 8 { try? await world.pause(.seconds(world.draw(200...400))) }
        let wrongs = [5: 1, 6: 2, 7: 5][habit] ?? 0
        for typed in Array(repeating: wrong, count: wrongs) + Array(repeating: code, count: habit == 4 ? 2 : 1) {
            try? await world.pause(world.milliseconds(1000...10_000))
            await enter(typed, isRight: typed == code, for: id)
        }
    }

    private func enter(_ code: EntryNumber, isRight: Bool, for id: ChallengeID) async {
        if isRight { world.ledger.shown.insert("code of \(id)") }
        let outcome = await call { [world] services, caller in
            let outcome = try await EnterCode.enter(code, for: id, by: caller, ports: services.ports)
            switch outcome {
            case .approved:
                world.blame(world.ledger.use("the code of \(id)"))
                if !isRight { world.violate(2, "\(id) is approved by a wrong code") }
            case .incorrect: world.blame(world.ledger.count("wrong codes for \(id)", atMost: Self.textAttempts))
            case .noCode, .alreadyEnded, .notFound: break
            }
            return outcome
        }
        switch outcome {
        case .approved(let challenge): tell("types a code", id, challenge.state.status)
        case .alreadyEnded(let status): tell("types a code", id, status)
        case .incorrect(let left): world.trace.note(name, "\(id): \(left) codes left")
        case .noCode, .notFound, nil: world.trace.note(name, "types no code of \(id)")
        }
    }

    /// A browser returns with a code: the portal presents it once, twice, after many wrong codes, late, after another
    /// code, or never.
    /// another has, or never.
    func bringBack(_ code: Secret<String>, of id: ChallengeID) async {
        let habit = world.draw(0...9)
        guard habit > 0 else { return }
        let wrong = Secret("AAAAAAAAAAAAAAAAAAAAAA")
        if habit == 1 { await world.portals.first { $0 !== self }?.present(code, isRight: true, for: id, of: self) }
        if habit == 2 { try? await world.pause(.seconds(world.draw(100...300))) }
        if habit == 3 { for _ in 0..<12 { await present(wrong, isRight: false, for: id, of: self) } }
        for _ in 0..<(habit == 4 ? 2 : 1) { await present(code, isRight: true, for: id, of: self) }
    }

    private func present(_ code: Secret<String>, isRight: Bool, for id: ChallengeID, of asking: Portal) async {
        let isOwn = asking === self
        if isRight, isOwn { world.ledger.shown.insert("way back of \(id)") }
        let outcome = await call { [world] services, caller in
            let outcome = try await ReturnChallenge.present(
                code, for: id, by: caller, ports: services.ports)
            switch outcome {
            case .released:
                world.blame(world.ledger.use("the way back of \(id)"))
                if !isRight || !isOwn { world.violate(2, "\(id) is released by a wrong code, or to another") }
            case .codeInvalid where world.ledger.clockSteps == 0:
                // The servers' clocks differ by seconds, so a minute may begin a little early.
                world.blame(
                    world.ledger.count(
                        "wrong ways back of \(id)", atMost: 10, each: .seconds(55), at: world.scheduler.elapsed))
            case .codeInvalid, .alreadyEnded, .notFound, .rateLimited: break
            }
            return outcome
        }
        switch outcome {
        case .released(let challenge): tell("is back with", id, challenge.state.status)
        case .alreadyEnded(let status): tell("is back with", id, status)
        case .codeInvalid, .notFound, .rateLimited, nil: world.trace.note(name, "is back with nothing of \(id)")
        }
    }

    /// Announces a challenge again, more often than allowed.
    func resend(_ id: ChallengeID) async {
        for _ in 0..<world.draw(1...5) {
            try? await world.pause(.seconds(world.draw(1...15)))
            let outcome = await call(tries: 1) { [world] services, caller in
                let outcome = try await ResendChallenge.resend(id, by: caller, ports: services.ports)
                if case .resent = outcome {
                    world.blame(world.ledger.count("announcements of \(id)", atMost: Self.resends))
                }
                return outcome
            }
            switch outcome {
            case .resent(let shown): tell("announces", id, shown.challenge.state.status)
            case .alreadyEnded(let status): return tell("announces", id, status)
            case .notFound: return world.violate(3, "\(name) was told that it asked \(id), which is not there")
            case .tooMany, .reported: return
            case nil: break
            }
        }
    }
}
