package import Crypto
import CountersignWire
import Encodings
import Foundation

/// Hashes secrets with few possible values, under a key that is not in the database.
///
/// Without the key, a copied database would reveal such secrets.
package struct KeyedHasher: Sendable {
    private let key: Secret<SymmetricKey>

    /// A hasher; its key is derived from the master key for this purpose only.
    package init(key: SymmetricKey) {
        self.key = Secret(key)
    }

    /// The hash of the number of a challenge.
    func hash(of number: EntryNumber, challenge: ChallengeID) -> KeyedHash {
        KeyedHash(stored: code(of: "number \(challenge) \(number.digits)"))
    }

    /// The hash of a client's value for a browser.
    func hash(of browser: BrowserID, client: ClientID) -> KeyedHash {
        KeyedHash(stored: code(of: "browser \(client) \(browser.text.reveal())"))
    }

    /// A name of a browser that is the same at all clients.
    func name(of browser: BrowserID) -> String { Hex.encode(code(of: "browser anywhere \(browser.text.reveal())")) }

    /// A stand-in for a client's name of a user, for records that remain after the user is deleted.
    func name(of externalID: ExternalID, client: ClientID) -> String {
        Hex.encode(code(of: "external id \(client) \(externalID.text)"))
    }

    /// The number that a new device shows, computed from the challenge about it, so that a repeated request gets the
    /// same number.
    func approvalNumber(of challenge: ChallengeID) -> EntryNumber {
        number(of: "approval \(challenge)")
    }

    private func number(of text: String) -> EntryNumber {
        let code = code(of: text)
        return EntryNumber(value: UInt32(code.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } % 1_000_000))
    }

    /// A stand-in for an address in limits, which must not be readable there.
    ///
    /// Mail services deliver `name+anything` to `name`, and a large one takes no notice of dots, so that neither counts.
    /// By octets: a mark after the sign of a tag would make another character of it.
    func name(of address: PersonalAddress) -> String {
        switch address {
        case .email(let mail):
            let name = mail.local.utf8.prefix { $0 != UInt8(ascii: "+") }.filter { $0 != UInt8(ascii: ".") }
            let counted = name.isEmpty ? mail.local : String(decoding: name, as: UTF8.self)
            return Hex.encode(code(of: "email \(counted)@\(mail.asciiDomain)".lowercased()))
        case .phone(let number): return Hex.encode(code(of: "phone \(number)"))
        }
    }

    /// A stand-in for an address in limits that holds for no other address, whatever its mailbox is.
    func exactName(of address: PersonalAddress) -> String { Hex.encode(identifier(address).hash.bytes) }

    /// The name by which rows hold an address; the case of letters does not count.
    func identifier(_ address: PersonalAddress) -> IdentifierName {
        IdentifierName(
            kind: address.kind,
            hash: KeyedHash(stored: code(of: "identifier \(address.kind.rawValue) \(Self.spelling(of: address))")))
    }

    /// The one spelling of an address: many spellings of an international domain are the same domain to a mail server.
    private static func spelling(of address: PersonalAddress) -> String {
        switch address {
        case .email(let mail): mail.onTheWire.lowercased()
        case .phone(let number): "\(number)"
        }
    }

    /// The code of a verification.
    func code(of verification: Verification) -> EntryNumber {
        number(of: "verification \(verification.id) \(verification.address)")
    }

    /// The secret in the link of a verification, in 32 hexadecimal digits.
    func link(of verification: Verification) -> Secret<String> {
        Secret(Hex.encode(proof(of: [], for: "verification link \(verification.id) \(verification.address)")))
    }

    /// A digest that recognises the repeat of a request.
    ///
    /// The body may hold data that could be guessed from a plain digest, such as a telephone number or a password.
    func digest(ofRequest body: [UInt8]) -> MessageDigest {
        MessageDigest(
            stored: Array(HMAC<SHA256>.authenticationCode(for: Array("request ".utf8) + body, using: key.reveal())))
    }

    /// A nonce for a change of an enrollment's methods: the time, random bytes, and a MAC over both.
    ///
    /// It need not be stored before it is used.
    func changeNonce(for enrollment: EnrollmentID, at time: Timestamp, random: [UInt8]) -> Nonce {
        let open = Self.bytes(of: time) + random.prefix(Self.chanceLength)
        guard let nonce = Nonce(bytes: open + proof(of: open, for: "change \(enrollment)")) else {
            preconditionFailure("a nonce has 32 bytes")
        }
        return nonce
    }

    /// When a nonce was made for an enrollment; nil if its MAC is not valid for the enrollment.
    func time(of nonce: Nonce, for enrollment: EnrollmentID) -> Timestamp? {
        self.time(in: nonce.bytes, openLength: 8 + Self.chanceLength, for: "change \(enrollment)")
    }

    /// A nonce for proofs of keys: when it was made, and a MAC over that.
    ///
    /// It is not stored, and every server of the deployment knows it.
    func proofNonce(at time: Timestamp) -> String {
        let open = Self.bytes(of: time)
        return Base64URL.encode(open + proof(of: open, for: "proof nonce"))
    }

    /// When a nonce for proofs of keys was made; nil if its MAC is not valid.
    func time(ofProofNonce text: String) -> Timestamp? {
        Base64URL.decode(text).flatMap { time(in: $0, openLength: 8, for: "proof nonce") }
    }

    /// A one-time password for the code of a challenge: the time, and a MAC over it.
    ///
    /// It need not be stored: a challenge is claimed only once. A password made for a picture is not valid in a link,
    /// whatever marker is put before it, and the other way round.
    func otp(of challenge: ChallengeID, as form: ChallengeCode.Form, at time: Timestamp) -> Secret<String> {
        let open = Self.bytes(of: time)
        let proof = proof(of: open, for: Self.purpose(of: form, challenge))
        return Secret(form.marker + Base64URL.encode(open + proof))
    }

    /// When the one-time password of a code was made; nil if its MAC is not valid for the challenge and the form.
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

    /// The return code that releases the approval of a challenge: always the same, and sent only to the approving
    /// device.
    ///
    /// 32 hexadecimal digits: a code that begins with a hyphen is an option to a command line.
    func returnCode(of challenge: ChallengeID) -> Secret<String> {
        Secret(Hex.encode(proof(of: [], for: "return \(challenge)")))
    }

    /// A cursor: where a page ended, and a MAC that binds it to one list as one caller sees it.
    func cursor(_ place: String, of list: String) -> String {
        let open = Array(place.utf8)
        return Base64URL.encode(proof(of: open, for: "cursor \(list)") + open)
    }

    /// Where a page ended; nil if the cursor's MAC is not valid for this list.
    func place(in cursor: String, of list: String) -> String? {
        guard let bytes = Base64URL.decode(cursor) else { return nil }
        let open = Array(bytes.dropFirst(16))
        guard constantTimeEqual(Array(bytes.prefix(16)), proof(of: open, for: "cursor \(list)")) else { return nil }
        return String(strictUTF8: open)
    }

    /// A refresh token: the family, the number of the token in it, and a MAC over both.
    ///
    /// It need not be stored, and the same one can be given again where a reply was lost.
    func refreshToken(_ generation: Int64, of family: TokenFamilyID) -> Secret<String> {
        Secret("\(family).\(generation).\(Base64URL.encode(code(of: "refresh \(family) \(generation)")))")
    }

    /// The family and the number of a refresh token; nil if its MAC is not valid.
    func refreshToken(_ token: Secret<String>) -> (family: TokenFamilyID, generation: Int64)? {
        // By octets: an access token, which is long, comes here too.
        let parts = token.reveal().utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            .map { Substring($0) }
        guard parts.count == 3, let family = TokenFamilyID(parts[0]), let generation = Int64(parts[1]), generation >= 0
        else { return nil }
        // check: RefreshTokensTests.refused
        guard refreshToken(generation, of: family).isSame(as: token) else { return nil }
        return (family, generation)
    }

    /// The secret of the ticket that follows from a sign-in at a client: always the same, so that a lost reply can be fetched
    /// again, and that one sign-in, which gives many tokens while its session lasts, gives one ticket.
    func ticket(of authentication: Authentication, at client: ClientID) -> Secret<String> {
        Secret("ctt_" + Base64URL.encode(Array(code(of: "ticket \(client) \(authentication.json.text)").prefix(24))))
    }

    /// Seals bytes that travel through a browser, so that they can be neither read nor changed on the way.
    ///
    /// - Parameters:
    ///   - bytes: the bytes.
    ///   - purpose: what they are for; they open for nothing else.
    func sealed(_ bytes: [UInt8], for purpose: String) throws -> [UInt8] {
        Array(try AES.GCM.seal(bytes, using: travelKey, authenticating: Array(purpose.utf8)).combined ?? Data())
    }

    /// The bytes that were sealed for this purpose; nil if these were not.
    func opened(_ sealed: [UInt8], for purpose: String) -> [UInt8]? {
        guard let box = try? AES.GCM.SealedBox(combined: sealed),
            let bytes = try? AES.GCM.open(box, using: travelKey, authenticating: Array(purpose.utf8))
        else { return nil }
        return Array(bytes)
    }

    private var travelKey: SymmetricKey { SymmetricKey(data: code(of: "sealed for a browser")) }

    private static let chanceLength = 8

    private static func bytes(of time: Timestamp) -> [UInt8] {
        withUnsafeBytes(of: time.milliseconds.bigEndian) { Array($0) }
    }

    /// The time at the beginning of some bytes; nil unless the MAC at their end is valid.
    private func time(in bytes: [UInt8], openLength: Int, for purpose: String) -> Timestamp? {
        let open = Array(bytes.prefix(openLength))
        guard constantTimeEqual(Array(bytes.dropFirst(openLength)), proof(of: open, for: purpose)) else { return nil }
        return Timestamp(milliseconds: open.prefix(8).reduce(0) { $0 << 8 | Int64($1) })
    }

    private func proof(of open: [UInt8], for purpose: String) -> [UInt8] {
        Array(code(of: "\(purpose) \(Hex.encode(open))").prefix(16))
    }

    /// The MAC of a text.
    func code(of text: String) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key.reveal()))
    }
}
