public import Crypto
import CountersignWire
public import Encodings

/// The hash of a secret of at least 112 bits: looked up by value, never turned back.
public struct SecretHash: Hashable, Sendable {
    /// SHA-256.
    public let bytes: [UInt8]

    /// The hash of a secret.
    public init(of secret: Secret<String>) {
        bytes = Array(SHA256.hash(data: Array(secret.reveal().utf8)))
    }

    /// A hash that was stored.
    public init(stored bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Whether this is the hash of a secret, in constant time.
    public func matches(_ secret: Secret<String>) -> Bool {
        constantTimeEqual(bytes, SecretHash(of: secret).bytes)
    }
}

/// Hashes secrets that have so little to guess that a copied database would give them away: under a key that is not in
/// the database.
public struct KeyedHasher: Sendable {
    private let key: Secret<SymmetricKey>

    /// A hasher with a key derived from the master key for nothing else.
    public init(key: SymmetricKey) {
        self.key = Secret(key)
    }

    /// The hash of the number of a challenge.
    func hash(of number: EntryNumber, challenge: ChallengeID) -> [UInt8] {
        Array(
            HMAC<SHA256>.authenticationCode(
                for: Array("number \(challenge) \(number.digits)".utf8), using: key.reveal()))
    }

    /// The hash of what a client knows a browser by.
    func hash(of browser: BrowserID, client: ClientID) -> [UInt8] {
        Array(
            HMAC<SHA256>.authenticationCode(
                for: Array("browser \(client) \(browser.text.reveal())".utf8), using: key.reveal()))
    }

    /// What stands for a client's name of a user where it is kept after the user is gone.
    func name(of externalID: ExternalID, client: ClientID) -> String {
        Hex.encode(
            Array(
                HMAC<SHA256>.authenticationCode(
                    for: Array("external id \(client) \(externalID.text)".utf8), using: key.reveal())))
    }

    /// The number that a new device shows, of the question about it: always the same, so that it can be told again.
    func approvalNumber(of challenge: ChallengeID) -> EntryNumber {
        let code = HMAC<SHA256>.authenticationCode(for: Array("approval \(challenge)".utf8), using: key.reveal())
        return EntryNumber(value: UInt32(code.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } % 1_000_000))
    }

    /// What stands for an address where it must not be read.
    func name(of address: PersonalAddress) -> String {
        let text =
            switch address {
            case .email(let address): "email \(address)"
            case .phone(let number): "phone \(number)"
            }
        return Hex.encode(Array(HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key.reveal())))
    }

    /// What stands for the body of a request where a repeat of it must be known: it may hold what could be guessed, such as
    /// a telephone number or a password.
    func hash(ofRequest body: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: Array("request ".utf8) + body, using: key.reveal()))
    }

    /// A nonce for a change of an enrollment's methods: the time, a chance, and what nobody else could make of them.
    ///
    /// It need not be remembered before it is used.
    func changeNonce(for enrollment: EnrollmentID, at time: Timestamp, random: [UInt8]) -> Nonce {
        let open = Self.bytes(of: time) + random.prefix(Self.chanceLength)
        guard let nonce = Nonce(bytes: open + proof(of: open, for: "change \(enrollment)")) else {
            preconditionFailure("a nonce has 32 bytes")
        }
        return nonce
    }

    /// When a nonce was made for an enrollment, or nil if it was not made here for it.
    func time(of nonce: Nonce, for enrollment: EnrollmentID) -> Timestamp? {
        self.time(in: nonce.bytes, openLength: 8 + Self.chanceLength, for: "change \(enrollment)")
    }

    /// A one-time password for the code of a challenge: the time, and what nobody else could make of it.
    ///
    /// It need not be remembered: a challenge is claimed once. One of a picture proves nothing as a link's, whatever
    /// marker is put before it, nor the other way round.
    func otp(of challenge: ChallengeID, as form: ChallengeCode.Form, at time: Timestamp) -> Secret<String> {
        let open = Self.bytes(of: time)
        let proof = proof(of: open, for: Self.purpose(of: form, challenge))
        return Secret(form.marker + Base64URL.encode(open + proof))
    }

    /// When the one-time password of a code was made for its challenge and for what it came by, or nil if it was not.
    func time(of code: ChallengeCode) -> Timestamp? {
        let (text, marker) = (code.otp.reveal(), code.form.marker)
        guard text.hasPrefix(marker), let bytes = Base64URL.decode(text.dropFirst(marker.count)) else { return nil }
        return time(in: bytes, openLength: 8, for: Self.purpose(of: code.form, code.challenge))
    }

    private static func purpose(of form: ChallengeCode.Form, _ challenge: ChallengeID) -> String {
        switch form {
        case .picture: "otp picture \(challenge)"
        case .link: "otp link \(challenge)"
        }
    }

    /// The code that releases the approval of a challenge: always the same, and told to the device that approves.
    func returnCode(of challenge: ChallengeID) -> Secret<String> {
        Secret(Base64URL.encode(proof(of: [], for: "return \(challenge)")))
    }

    /// A cursor: where a page ended, and what nobody else could make of it, for one list as one caller sees it.
    func cursor(_ place: String, of list: String) -> String {
        let open = Array(place.utf8)
        return Base64URL.encode(proof(of: open, for: "cursor \(list)") + open)
    }

    /// Where a page ended, or nil if the cursor was not made here for this list.
    func place(in cursor: String, of list: String) -> String? {
        guard let bytes = Base64URL.decode(cursor) else { return nil }
        let open = Array(bytes.dropFirst(16))
        guard constantTimeEqual(Array(bytes.prefix(16)), proof(of: open, for: "cursor \(list)")) else { return nil }
        return String(strictUTF8: open)
    }

    private static let chanceLength = 8

    private static func bytes(of time: Timestamp) -> [UInt8] {
        withUnsafeBytes(of: time.milliseconds.bigEndian) { Array($0) }
    }

    /// The time with which bytes begin, whose end must prove the rest.
    private func time(in bytes: [UInt8], openLength: Int, for purpose: String) -> Timestamp? {
        let open = Array(bytes.prefix(openLength))
        guard constantTimeEqual(Array(bytes.dropFirst(openLength)), proof(of: open, for: purpose)) else { return nil }
        return Timestamp(milliseconds: open.prefix(8).reduce(0) { $0 << 8 | Int64($1) })
    }

    private func proof(of open: [UInt8], for purpose: String) -> [UInt8] {
        let code = HMAC<SHA256>.authenticationCode(
            for: Array("\(purpose) \(Hex.encode(open))".utf8), using: key.reveal())
        return Array(code.prefix(16))
    }

    /// What nobody without the key could make of a text.
    func code(of text: String) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key.reveal()))
    }

    /// Whether a hash is that of a number, in constant time.
    func matches(_ hash: [UInt8], number: EntryNumber, challenge: ChallengeID) -> Bool {
        constantTimeEqual(hash, self.hash(of: number, challenge: challenge))
    }
}
