import CountersignCore
import CountersignWire
import Encodings
import StorageTestSupport

/// What a person allows a third party, and ends again.
extension Browser {
    /// Sends an answer for one sign-in.
    typealias Sending = @Sendable (ConsentAnswer, Ports) async throws -> FinishSignIn.Outcome

    /// Ends what a third party may have, from time to time.
    func endAccessAgainAndAgain(of shop: Portal) async {
        while !world.isCalm {
            try? await world.pause(.seconds(world.draw(60...900)))
            if !world.isCalm { await endAccess(of: shop) }
        }
    }

    /// Sometimes ends what a third party may have just while it fetches something.
    func endAccessMeanwhile(of portal: Portal) {
        guard portal.client.isThirdParty, world.happens(percent: 10) else { return }
        world.scheduler.start { [self] in
            try? await world.pause(world.milliseconds(0...100))
            await endAccess(of: portal)
        }
    }

    private func endAccess(of shop: Portal) async {
        guard let session, let person else { return }
        let client = shop.client.id
        let outcome = await call {
            try await EndOwnAccess.end(.client(client), by: session, shownTo: person, ports: $0.ports)
        }
        if case .done? = outcome { world.trace.note(name, "ends the access of \(shop.name)") }
    }

    /// Lets the operator confirm the person's phones, which no third party would believe otherwise.
    func haveConfirmed(_ phones: [Phone]) async {
        let admin = world.portals[0].client
        for phone in phones where !phone.isStolen {
            guard let device = phone.device?.id else { continue }
            _ = await call { try await ConfirmEnrollment.confirm(device, by: admin.actor, ports: $0.ports) }
        }
    }

    /// Whether the person allows what is wanted, after a while.
    func allows() async -> Bool {
        // A sign-in can be finished for half an hour.
        try? await world.pause(.seconds(world.happens(percent: 5) ? 1900 : world.draw(1...20)))
        return world.happens(percent: 80)
    }

    /// Sends that the person allows it or, if the person does not look, that they go on.
    func answer(_ question: ConsentQuestion, _ send: @escaping Sending) async -> FinishSignIn.Outcome? {
        guard !world.isCalm else { return nil }
        let who = "\(question.user) \(question.wanted.client)"
        let isAllowed = world.happens(percent: 95)
        let answer: ConsentAnswer = isAllowed ? .allows(question.user) : .goesOn(question.user)
        return await call { [world] services -> FinishSignIn.Outcome in
            guard isAllowed else { return try await send(answer, services.ports) }
            world.ledger.answering[who, default: 0] += 1
            defer { world.ledger.answering[who, default: 0] -= 1 }
            return try await send(answer, services.ports)
        }
    }

    /// Cancels a sign-in instead of allowing what its client wants, and sometimes allows it then in another tab.
    func refuse(_ signIn: AuthorizationID, _ question: ConsentQuestion, _ send: @escaping Sending) async {
        let isOver = await call { [id] in try await CancelSignIn.cancel(signIn, in: id, ports: $0.ports) }
        guard isOver == true, world.happens(percent: 50) else { return }
        if case .finished? = await answer(question, send) {
            world.violate(15, "\(signIn) gave a code, though the person had refused")
        }
    }

    /// Asks whether a third party's access token is good.
    func introspect(_ access: Secret<String>, of family: TokenFamilyID, by shop: Portal) async {
        let client = shop.client.id
        await call { [world] services in
            let wasWithdrawn = world.ledger.withdrawn.contains("\(family)")
            let outcome = try await IntrospectToken.introspect(access, by: client, ports: services.ports)
            guard outcome != .inactive else { return }
            world.blame(world.ledger.use(family: "\(family)", wasWithdrawn: wasWithdrawn))
        }
    }
}
