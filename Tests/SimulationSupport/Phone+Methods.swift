import CountersignCore
import CountersignWire
import Crypto
import Encodings
import OpenPGP
import StorageTestSupport
import TestSupport

/// The methods of a phone: PIN, biometric and the portal's custom authenticator, which can be set, replaced and
/// removed.
extension Phone {
    /// The kind of the second signature of a change.
    enum Proof { case right, wrong, none }

    /// Changes a random method; the user may mistype the PIN.
    func changeSomething(_ device: Device) async throws {
        isChanging = true
        defer { isChanging = false }
        let isWrong =
            switch habit {
            case .mistyping: world.happens(percent: 40)
            case .forgetful: world.happens(percent: 80)
            default: false
            }
        let proof = isWrong ? Proof.wrong : .right
        switch world.draw(0...8) {
        case 0, 1: try await change(.pin, by: proof, of: device)
        case 2: try await change(.pin, isRemoved: true, by: proof, of: device)
        case 3, 4: try await change(.biometric, by: proof, of: device)
        case 5: try await change(.biometric, isRemoved: true, by: proof, of: device)
        case 6, 7: try await changePhrase(by: proof, of: device)
        default: try await changePhrase(isRemoved: true, by: proof, of: device)
        }
    }

    /// Sets, replaces or removes a PIN or a biometric.
    func change(
        _ method: AnswerMethod, isRemoved: Bool = false, by proof: Proof = .right, of device: Device
    ) async throws {
        let old = device.keys[method]
        guard old != nil || !isRemoved else { return }
        let header = try await beginChange(device)
        let (at, primary) = (now.unixSeconds, device.holder.primary)
        var grown = device.certificate
        let new = isRemoved ? nil : SigningKeyPair(P256.Signing.PrivateKey(), createdAt: at)
        if let new {
            let notation = method.notation(of: world.issuer)
            grown = try await grown.adding(.signing(new, notations: [notation]), by: primary, at: at)
        }
        if let old {
            grown = try await grown.revoking(old.publicKey.fingerprint, because: .superseded, by: primary, at: at)
        }
        let change = MethodChange(
            header, method: method, old: old?.publicKey.fingerprint, new: new?.publicKey.fingerprint,
            certificate: grown.encoded)
        guard try await send(change.text, by: proof, of: device) else { return }
        world.trace.note(name, "\(isRemoved ? "removes" : "sets") \(method.rawValue)")
        (device.keys[method], device.certificate) = (new, grown)
        _ = try await beginChange(device)
    }

    /// Registers or removes the portal's custom authenticator.
    func changePhrase(isRemoved: Bool = false, by proof: Proof = .right, of device: Device) async throws {
        guard let phrase = Portal.phrase else { return }
        let header = try await beginChange(device)
        let data = isRemoved ? nil : try await self.phrase(by: device)
        let change = AuthenticatorChange(
            header, name: phrase, customDataHash: data.map { Array(SHA256.hash(data: $0)) })
        guard try await send(change.text, data, by: proof, of: device) else { return }
        world.trace.note(name, "\(isRemoved ? "gives up" : "registers") its phrase")
        device.hasPhrase = !isRemoved
        _ = try await beginChange(device)
    }

    /// The sealed data for the portal's custom authenticator.
    func phrase(by device: Device) async throws -> [UInt8] {
        guard let data = CustomData("correct horse") else { throw World.Broken("custom data") }
        return try await seal(data.text, by: device)
    }

    /// Fetches the state of the methods, which contains a nonce.
    private func beginChange(_ device: Device) async throws -> ChangeHeader {
        let (shown, server) = try await repeated {
            try await call("GET", "/v1/enrollments/self/methods", by: device, changes: false) {
                (try await ShowMethods.show(to: $0, ports: $1.ports).get(), try $1.ports.keys.current().certificate)
            }
        }
        device.waiting = shown.waiting
        device.server = server
        return ChangeHeader(issuer: world.issuer, enrollment: device.id, nonce: shown.nonce)
    }

    /// Sends a change, and repeats the same bytes until there is an answer; without any answer, the device is given up.
    ///
    /// - Returns: whether the change was accepted.
    private func send(
        _ text: String, _ data: [UInt8]? = nil, by proof: Proof, of device: Device
    ) async throws -> Bool {
        let counting = [AnswerMethod.pin, .biometric].first { device.keys[$0] != nil && device.waiting[$0] == nil }
        var signer: SigningKeyPair?
        switch proof {
        case .right: signer = counting.flatMap { device.keys[$0] }
        case .wrong: signer = SigningKeyPair(P256.Signing.PrivateKey(), createdAt: now.unixSeconds)
        case .none: break
        }
        var ticket: Secret<String>?
        if signer == nil, now >= device.since.adding(seconds: 600) {
            let portal = world.pick(world.portals.filter { user.id(at: $0) == device.invitation.user })
            ticket = await portal?.ticket(for: user)?.ticket
        }
        let body = MethodChangeRequest(
            message: try await seal(text, by: device),
            authorization: signer == nil ? nil : try await seal(text, signedBy: signer, by: device), customData: data,
            ticket: ticket
        ).json
        let outcome: ChangeMethods.Outcome
        do {
            outcome = try await repeated {
                try await call("POST", "/v1/enrollments/self/methods", body, by: device) { call, services in
                    let outcome = try await ChangeMethods.change(
                        try MethodChangeRequest(body), by: call, ports: services.ports)
                    if case .refused(let refusal) = outcome { throw refusal }
                    return outcome
                }
            }
        } catch is Unanswered {
            world.trace.note(name, "does not know what it has")
            if !isStolen { try await leave(device) }
            return false
        }
        switch outcome {
        case .changed:
            world.ledger.counts.methods += 1
            if counting == .pin { device.wrongPINs = 0 }
            return true
        case .pinIncorrect(let left): typedWrongly(device, left: left)
        case .customFailed, .customRetry, .customNotRegistered, .customUnavailable, .refused, .invalid, .notAuthorized,
            .blocked, .pinLocked, .certificateFull, .rateLimited:
            world.trace.note(name, "changes nothing: \("\(outcome)".prefix { $0.isLetter })")
        }
        return false
    }

    /// Records a wrong PIN.
    func typedWrongly(_ device: Device, left: Int) {
        world.trace.note(name, "has \(left) tries left")
        device.wrongPINs += 1
        if device.wrongPINs > 5 { world.violate(6, "\(name) has typed \(device.wrongPINs) wrong PINs in a row") }
    }

    /// Decrypts the return code, and has the browser bring it to the portal.
    func goBack(with sealed: [UInt8], _ device: Device) async throws {
        let opened = try await EncryptedMessage.open(
            sealed, with: device.holder.encryption, signers: device.server.keys,
            intendedRecipient: device.certificate.fingerprint, now: now.adding(seconds: 4000).unixSeconds)
        let message = try ReturnMessage(try JSONValue(parsing: opened.content))
        guard message.enrollment == device.id, let portal = user.opened[message.challenge] else {
            return world.violate(2, "\(name) was told how to release another's approval")
        }
        world.ledger.keepSecret(message.code.reveal())
        world.scheduler.start { [world] in
            try? await world.pause(world.milliseconds(200...5000))
            await portal.bringBack(message.code, of: message.challenge)
        }
    }
}
