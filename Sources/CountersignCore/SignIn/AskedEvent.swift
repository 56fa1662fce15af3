package import CountersignWire
import Encodings

// How what an app asks that was written for Cotter is found: by the number that it gets, by the number that the user's
// devices get, or by the user's name.
//
// Spec: docs/decisions/0108-cotters-door.md.

/// What an app asks that was written for Cotter.
package struct AskedEvent: Hashable, Sendable {
    /// What shall be approved.
    package let name: EventName
    /// The user, as the app has named them.
    package let user: String
    /// The client, as the app has written its id.
    package let client: String
    /// When it was asked, in seconds since 1970, by our clock.
    package let timestamp: Int64

    /// An event of these parts.
    package init(name: EventName, user: String, client: String, timestamp: Int64) {
        self.name = name
        self.user = user
        self.client = client
        self.timestamp = timestamp
    }
}

extension AskedEvent {
    /// What another call has asked, as devices of such apps can answer it: by the type's name in capital letters.
    ///
    /// - Parameters:
    ///   - challenge: what was asked.
    ///   - user: the user, as the app names them.
    ///   - client: the client, as the app writes its id.
    init?(_ challenge: Challenge, user: String, client: String) {
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        let capitals = "\(challenge.question.type)".utf8.map { letters.contains($0) ? $0 - 32 : UInt8(ascii: "_") }
        guard let name = EventName(String(decoding: capitals, as: UTF8.self)) else { return nil }
        self.init(name: name, user: user, client: client, timestamp: challenge.question.askedAt.seconds)
    }
}

/// The form in which a row holds it, sealed with the rest of a wish.
extension AskedEvent {
    var json: JSONValue {
        [
            "name": .string(name.text), "user": .string(user), "client": .string(client),
            "timestamp": .integer(timestamp),
        ]
    }

    /// Reads the form; nil if it is malformed.
    init?(_ json: JSONValue) {
        guard let name = json["name"]?.string.flatMap({ EventName($0) }), let user = json["user"]?.string,
            let client = json["client"]?.string, let timestamp = json["timestamp"]?.integer
        else { return nil }
        self.init(name: name, user: user, client: client, timestamp: timestamp)
    }
}

/// An event, as somebody may see it.
package struct ShownEvent: Equatable, Sendable {
    /// How far it has come.
    package enum Stage: Equatable, Sendable {
        /// Nobody has answered.
        case pending
        case approved
        case denied
    }

    /// The sign-in that it is; nil for what another call has asked.
    package let signIn: AuthorizationID?
    /// What is asked.
    package let event: AskedEvent
    /// The number by which whoever sees it knows it.
    package let number: Int64
    /// How far it has come.
    package let stage: Stage

    /// A sign-in as an event; nil if it is none, or over without an answer.
    init?(_ found: Authorization, number: Int64, at now: Timestamp) {
        guard let event = found.wanted.device?.event else { return nil }
        switch found.state {
        case .open:
            guard now < found.expiresAt else { return nil }
            stage = .pending
        case .refused: stage = .denied
        case .authenticated, .granted, .redeemed: stage = .approved
        }
        (signIn, self.event, self.number) = (found.id, event, number)
    }

    /// What another call has asked, as it is now.
    init(_ challenge: Challenge, _ event: AskedEvent, number: Int64) {
        switch challenge.state {
        case .pending, .returning: stage = .pending
        case .ended(.approved, _), .ended(.entered, _): stage = .approved
        case .ended: stage = .denied
        }
        (signIn, self.event, self.number) = (nil, event, number)
    }
}

extension SignedEvent {
    /// What keeps one device from deciding two things by the same text, whatever it has signed it for.
    func once(by enrollment: EnrollmentID) -> ReplayGuard {
        // So long another question of the same second may be open.
        let end = Timestamp(seconds: timestamp).adding(
            ChallengeType.longestLifetime + ReplayGuard.tolerance + ReplayGuard.margin)
        // The text has the user's name.
        return ReplayGuard(MessageDigest(of: Array(text.utf8)).hex, of: "event \(enrollment)", until: end)
    }
}

extension Wanted {
    /// Whether whoever asks shows a number, which is typed on the device that approves.
    var showsNumber: Bool { backchannel?.showsNumber ?? (device?.event == nil) }
}

extension KeyedHasher {
    /// How many events of one name may be found in one minute.
    private static let slots = 4

    /// The number that the app gets which asks: who has it gets the tokens.
    func eventNumber(of signIn: AuthorizationID) -> Int64 { number("cotter event \(signIn)") }

    /// The number that anybody gets who names the user: only who signs can answer by it.
    func responseNumber(of signIn: AuthorizationID) -> Int64 { number("cotter response \(signIn)") }

    /// The same number of what another call has asked.
    func responseNumber(of challenge: ChallengeID) -> Int64 { number("cotter question \(challenge)") }

    func hash(ofEvent number: Int64) -> KeyedHash { KeyedHash(stored: code(of: "cotter event number \(number)")) }

    func hash(ofResponse number: Int64) -> KeyedHash {
        KeyedHash(stored: code(of: "cotter response number \(number)"))
    }

    /// The hashes by which the events are found that name a user, of one minute.
    ///
    /// They are the same whether there is such a user.
    func pendingHashes(of user: String, at client: ClientID, minute: Int64) -> [KeyedHash] {
        (0..<Self.slots).map { KeyedHash(stored: code(of: "cotter pending \(client) \(minute) \($0) \(user)")) }
    }

    /// A stand-in for the name of a user in limits.
    func limitName(of user: String, at client: ClientID) -> String {
        Hex.encode(code(of: "cotter name \(client) \(user)"))
    }

    /// 53 bits, which every language's numbers hold.
    private func number(_ text: String) -> Int64 {
        Int64(code(of: text).prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } >> 11)
    }
}

extension UnitOfWork {
    /// Notes by what a sign-in is found that an app has asked for.
    func insertEvent(_ event: AskedEvent, of signIn: AuthorizationID, at client: ClientID, until end: Timestamp) throws
    {
        for hash in [
            hasher.hash(ofEvent: hasher.eventNumber(of: signIn)),
            hasher.hash(ofResponse: hasher.responseNumber(of: signIn)),
        ] {
            guard try authorizations.insert(hash, of: signIn, until: end) else { throw StoreError.serializationFailure }
        }
        // A name's devices are asked no more often, and shall not show more than they are asked.
        // check: CotterEventTests.many
        guard try !count(.eventsNaming(hasher.limitName(of: event.user, at: client))).isExceeded else { return }
        // Where there are many, the first ones are found: they go before at the devices, too.
        for hash in hasher.pendingHashes(of: event.user, at: client, minute: now.seconds / 60) {
            if try authorizations.insert(hash, of: signIn, until: end) { return }
        }
    }
}

extension Stores {
    /// The user whom an app names that was written for Cotter: by the client's own name, by our id, or by an address;
    /// nil for nobody.
    ///
    /// A name may have the form of an id or of an address, and go to whoever has chosen it. So it means its own user
    /// first: nobody's devices come to somebody else by it, who has this id or proves this address later.
    func person(called text: String, at client: ClientID, _ hasher: KeyedHasher) throws -> UserID? {
        if let name = try? ExternalID(text), let user = try links.find(.externalID(name), of: client) {
            return user.id
        }
        if let id = UserID(text) ?? UserID(uuid: text) { return try links.find(.id(id), of: client)?.id }
        return try PersonalAddress(typed: text).flatMap { try person(having: $0, at: client, hasher) }
    }

    /// The user whom an app means by an address that was written for Cotter; nil for nobody.
    ///
    /// A third party means whom it has itself said to have the address, whoever has proved it: it could otherwise guess
    /// what its users have proved elsewhere, and whether an address is somebody's.
    func person(having address: PersonalAddress, at client: ClientID, _ hasher: KeyedHasher) throws -> UserID? {
        // check: CotterRecordTests.thirdParties
        guard try clients.find(client)?.isThirdParty == false else {
            return try identifiers.claim(hasher.identifier(address), by: client)?.user
        }
        return try person(named: .address(address), at: client, hasher)
    }
}
