import CountersignWire
import Encodings

/// A secret that a person has set on their account page, without which no client's server has their devices asked.
///
/// It signs nobody in: it says that the person wants to be asked now. Whoever is told it at a counter or by telephone
/// may write it down as they like, so that the case of letters, spaces and hyphens do not count.
///
/// Spec: CIBA Core 1.0 §7.1 (`user_code`); docs/decisions/0097-user-code.md.
package struct BackchannelUserCode: Sendable {
    /// How many letters and digits it may have.
    package static let lengths = 6...32
    /// The longest text that is read.
    private static let longestText = 64

    /// Letters, all of them capital, and digits.
    let text: Secret<String>

    /// Reads what somebody has typed, or a client has sent.
    ///
    /// ``UserCode`` is read by another rule: it skips whatever is no letter or digit, since we have made it and know its
    /// length. Here the person chooses, and "Müller4711" would become a shorter code than they know.
    ///
    /// - Returns: nil for what is nobody's code, since it is of another form or too easily guessed.
    package init?(_ typed: String) {
        // check: UserCodeTests.form
        guard typed.utf8.count <= Self.longestText else { return nil }
        var bytes: [UInt8] = []
        for byte in typed.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"): bytes.append(byte - 32)
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): bytes.append(byte)
            case UInt8(ascii: " "), UInt8(ascii: "-"): continue
            default: return nil
            }
        }
        let steps = Set(zip(bytes, bytes.dropFirst()).map { Int($1) - Int($0) })
        // One letter again and again, or a run such as 123456.
        // check: UserCodeTests.form
        guard Self.lengths.contains(bytes.count), steps.count > 1 else { return nil }
        text = Secret(String(decoding: bytes, as: UTF8.self))
    }
}

extension KeyedHasher {
    /// What is kept of a code that a client's server has brought, until the person is found.
    func hash(brought code: BackchannelUserCode) -> KeyedHash {
        KeyedHash(stored: self.code(of: "brought user code \(code.text.reveal())"))
    }

    /// What is kept of a person's code, made of what is kept of one that is brought.
    func hash(_ brought: KeyedHash, of user: UserID) -> KeyedHash {
        KeyedHash(stored: code(of: "user code of \(user) \(Hex.encode(brought.bytes))"))
    }
}

extension UnitOfWork {
    /// Whether a client's server may have a user's devices asked by the code that it has brought.
    ///
    /// Nobody learns what was missing: a wrong code looks like a person who does not answer. A client that must bring
    /// one has nobody asked who has set none, since whatever it brings is not theirs.
    ///
    /// Spec: CIBA Core 1.0 §7.1.
    ///
    /// - Parameters:
    ///   - brought: the code; nil for none.
    ///   - user: the user, whose row is locked.
    ///   - client: the client; a third party must not use up what the others have.
    ///   - mustBring: whether the client is registered for codes.
    func isRight(
        userCode brought: KeyedHash?, of user: UserID, at client: Client, mustBring: Bool
    ) throws -> Bool {
        guard let kept = try users.userCode(of: user) else { return !mustBring }
        guard let brought else { return false }
        let attempts = try count(.wrongAskingCodes(of: user, at: client.trustGroup.thirdParty))
        // check: UserCodeTests.limited
        guard !attempts.isExceeded else { return false }
        // check: UserCodeTests.right
        guard hasher.hash(brought, of: user) == kept else {
            try raise(.userCodeIncorrect(attemptsLeft: attempts.left, of: user, by: client.id))
            if attempts.isUsedUp { try raise(.userCodeLocked(of: user, by: client.id)) }
            return false
        }
        try forget(attempts.limit)
        return true
    }

    /// Forgets the wrong codes that were brought for a user, who has set or removed theirs.
    func forgetWrongAskingCodes(of user: UserID) throws {
        try forget(.wrongAskingCodes(of: user, at: nil))
        for link in try users.find(user)?.links ?? [] { try forget(.wrongAskingCodes(of: user, at: link.client)) }
    }
}
