import CountersignStorage
import CountersignWire
import Crypto
import Encodings
import StorageTestSupport
import TestSupport
import Testing

@testable import CountersignCore

/// What lets in: secrets, tickets, codes, and what receivers check.
extension StolenDatabaseTests {
    /// A hash in every form in which it could be taken for the secret.
    private func forms(_ hash: [UInt8], _ prefix: String = "") -> [Secret<String>] {
        let texts = [Hex.encode(hash), Hex.encodeUppercase(hash), Base64.encode(hash), Base64URL.encode(hash)]
        return texts.flatMap { [Secret($0), Secret(prefix + $0)] }
    }

    @Test(
        "Forging a client's secret and the bootstrap token fails: hashes let nobody in; a kept reply tells a secret",
        arguments: StolenCopy.Way.allCases)
    func secrets(_ way: StolenCopy.Way) async throws {
        let theft = try await Theft(by: way)
        let ports = theft.world.ports
        let shop = "\(theft.shop.client.id)"
        let hashes = theft.copy.blobs("clients", "secret_hash")
        let tokens = theft.copy.blobs("bootstrap_tokens", "hash")
        #expect(hashes == [SecretHash(of: theft.shop.secret).bytes])
        #expect(tokens == [SecretHash(of: theft.token).bytes])
        for form in hashes.flatMap({ forms($0) }) {
            #expect(try await AuthenticateClient.authenticate(shop, secret: form, ports: ports) == .refused)
        }
        for form in tokens.flatMap({ forms($0, "cst_") }) {
            let caller = try await AuthenticateClient.authenticate(
                bootstrapToken: form, isFromLoopback: true, ports: ports)
            #expect(caller == .refused)
        }
        // What there is to guess is all of 32 bytes.
        #expect(Base64URL.decode(theft.shop.secret.reveal())?.count == 32)
        #expect(Base64URL.decode(theft.token.reveal().dropFirst("cst_".count))?.count == 32)
        // With the master key: for a day after it was told, in a reply kept for a repeat.
        let told = try #require(try await theft.replies(try await theft.opened())["client"]?["secret"]?.string)
        let caller = try await AuthenticateClient.authenticate(shop, secret: Secret(told), ports: ports).caller
        #expect(caller?.client.id == theft.shop.client.id)
    }

    @Test(
        "Forging a ticket, and by it an enrollment, fails without the master key; with it one that is ten minutes old",
        arguments: StolenCopy.Way.allCases)
    func tickets(_ way: StolenCopy.Way) async throws {
        let theft = try await Theft(by: way)
        let thief = try await TestDevice(theft.ticket, in: theft.world)
        let hashes = theft.copy.blobs("tickets", "hash")
        #expect(hashes.contains(SecretHash(of: theft.ticket.ticket).bytes))
        for form in hashes.flatMap({ forms($0, "ctt_") }) {
            guard case .ticketInvalid = try await thief.enroll(ticket: form) else {
                Issue.record("a hash was taken for a ticket")
                continue
            }
        }
        #expect(Base64URL.decode(theft.ticket.ticket.reveal().dropFirst("ctt_".count))?.count == 24)
        let told = try #require(try await theft.replies(try await theft.opened())["ticket"]?["ticket"]?.string)
        theft.world.time.advance(Ticket.lifetime)
        guard case .ticketExpired = try await thief.enroll(ticket: Secret(told)) else {
            Issue.record("an old ticket was taken")
            return
        }
        theft.world.time.advance(seconds: -1)
        guard case .enrolled(let enrollment, .some) = try await thief.enroll(ticket: Secret(told)) else {
            Issue.record("a fresh ticket out of a kept reply was not taken")
            return
        }
        // The user is asked, as about every further device: it waits.
        #expect(!enrollment.counts(at: theft.world.time.now))
    }

    @Test(
        "Forging the signature of a callback, a notice or a hook fails without the master key, and not with it",
        arguments: StolenCopy.Way.allCases)
    func signatures(_ way: StolenCopy.Way) async throws {
        let theft = try await Theft(by: way)
        let signed = Array("evt_1.1795169702.{\"type\":\"challenge.approved\"}".utf8)
        func code(_ key: [UInt8]) -> [UInt8] {
            Array(HMAC<SHA256>.authenticationCode(for: signed, using: SymmetricKey(data: key)))
        }
        func key(_ secret: Secret<String>) throws -> [UInt8] {
            try #require(Base64.decode(secret.reveal().dropFirst("whsec_".count)))
        }
        let expected = try CallbackPurpose.allCases.map { purpose in
            code(try key(theft.world.ports.hasher.secret(for: purpose, of: theft.shop.callbackSecret)))
        }
        #expect(Set(expected).count == 3)
        // Without: whatever stands in a row, as it is and as the text of bytes.
        let keys = theft.copy.everything.flatMap { value in
            let text = String(decoding: value, as: UTF8.self)
            return [value, Base64.decode(text), Hex.decode(text)].compactMap { $0 }
        }
        #expect(!keys.contains { expected.contains(code($0)) })
        // With: the secret for callbacks, and what is made of it.
        let opened = try await theft.opened()
        let receiver = CallbackReceiver(of: theft.shop.client.id, at: CallbackURI(stored: Theft.callback))
        let access = try await opened.store.callbackAccess(to: [receiver], at: theft.world.time.now)[receiver]
        let secret = try #require(access?.secrets.first)
        let forged = try CallbackPurpose.allCases.map { purpose in
            code(try key(opened.ports.hasher.secret(for: purpose, of: secret)))
        }
        #expect(forged == expected)
    }

    @Test(
        "Forging a code to scan, a link and the code for the way back fails without the master key, and not with it",
        arguments: StolenCopy.Way.allCases)
    func codes(_ way: StolenCopy.Way) async throws {
        let theft = try await Theft(by: way)
        let (world, now) = (theft.world, theft.world.time.now)
        let (shown, held) = (theft.shown.challenge.id, theft.held.challenge.id)
        func code(_ form: ChallengeCode.Form, by hasher: KeyedHasher) -> ChallengeCode {
            ChallengeCode(challenge: shown, otp: hasher.otp(of: shown, as: form, at: now), form: form)
        }
        let guessed = theft.guessedHashers
        for form in ChallengeCode.Form.allCases {
            #expect(!guessed.contains { world.ports.hasher.time(of: code(form, by: $0)) != nil })
        }
        #expect(!guessed.contains { $0.returnCode(of: held).isSame(as: theft.returnCode) })
        let own = KeyedHasher(key: SymmetricKey(size: .bits256))
        let call = try await theft.device.call()
        guard case .codeInvalid = try await ClaimChallenge.claim(code(.picture, by: own), by: call, ports: world.ports),
            case .codeInvalid = try await ReturnChallenge.present(
                own.returnCode(of: held), for: held, by: theft.shop.client.caller, ports: world.ports)
        else {
            Issue.record("a code of the thief's making was taken")
            return
        }
        let opened = try await theft.opened()
        let forged = code(.picture, by: opened.ports.hasher)
        guard
            case .claimed = try await ClaimChallenge.claim(
                forged, by: try await theft.device.call(), ports: world.ports),
            case .released = try await ReturnChallenge.present(
                opened.ports.hasher.returnCode(of: held), for: held, by: theft.shop.client.caller, ports: world.ports)
        else {
            Issue.record("a code made by the master key was not taken")
            return
        }
    }
}

extension StolenCopy {
    /// Hashers by keys of which the thief could think: everything that stands in the copy, as it is, hashed, and each
    /// end of it; and nothing.
    var guessedHashers: [KeyedHasher] {
        var keys: Set<[UInt8]> = [[], [UInt8](repeating: 0, count: 32)]
        for value in everything {
            keys.formUnion([value, Array(SHA256.hash(data: value)), Array(value.prefix(32)), Array(value.suffix(32))])
        }
        return keys.map { KeyedHasher(key: SymmetricKey(data: $0)) }
    }
}

extension Theft {
    /// The same for the copy of this deployment.
    var guessedHashers: [KeyedHasher] { copy.guessedHashers }
}
