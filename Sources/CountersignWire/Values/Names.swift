import Encodings
public import OpenPGP

/// The method by which a user approves.
///
/// Raw values are used in the API and in receipts.
public enum AnswerMethod: Hashable, Sendable {
    /// Possession of the device alone.
    case confirm
    /// Possession of the device and a PIN, from which the signing key is derived.
    case pin
    /// Possession of the device and a biometric of the user, which alone unlocks the signing key.
    case biometric
    /// Possession of the device, and whatever the relying party's custom authenticator of this name judges.
    case custom(AuthenticatorName)

    /// The methods that every deployment has.
    public static let standard: [AnswerMethod] = [.confirm, .pin, .biometric]

    private static let customPrefix = "custom:"

    /// Reads `confirm`, `pin`, `biometric`, or `custom:` and a name; nil for anything else.
    public init?(rawValue: String) {
        if let method = Self.standard.first(where: { $0.rawValue.hasSameBytes(as: rawValue) }) {
            self = method
        } else if rawValue.utf8.starts(with: Self.customPrefix.utf8),
            let name = AuthenticatorName(Substring(rawValue.utf8.dropFirst(Self.customPrefix.utf8.count)))
        {
            self = .custom(name)
        } else {
            return nil
        }
    }

    /// The name in the API and in receipts.
    public var rawValue: String {
        switch self {
        case .confirm: "confirm"
        case .pin: "pin"
        case .biometric: "biometric"
        case .custom(let name): Self.customPrefix + name.description
        }
    }

    /// The notation that a device's certificate has for the subkey that proves this method.
    ///
    /// Spec: docs/protocol/methods.md, *The certificate in a change*; RFC 9580 §5.2.3.24.
    public func notation(of issuer: Issuer) -> Notation {
        Notation(name: "method@\(issuer.host)", value: rawValue)
    }
}

/// The name of a custom authenticator: 1 to 32 lower case letters, digits, `-` and `_`, beginning with a letter.
public struct AuthenticatorName: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The name.
    public let description: String

    /// Reads a name, or nil.
    public init?(_ text: some StringProtocol) {
        guard text.isName(ofAtMost: 32) else { return nil }
        description = String(text)
    }

    /// Orders names by their bytes.
    public static func < (left: AuthenticatorName, right: AuthenticatorName) -> Bool {
        left.description.utf8.lexicographicallyPrecedes(right.description.utf8)
    }
}

/// The name of a captcha's provider: 1 to 32 lower case letters, digits, `-` and `_`, beginning with a letter.
package struct CaptchaName: Hashable, Sendable, CustomStringConvertible {
    /// The name.
    package let description: String

    /// Reads a name, or nil.
    package init?(_ text: some StringProtocol) {
        guard text.isName(ofAtMost: 32) else { return nil }
        description = String(text)
    }
}

extension StringProtocol {
    /// Whether it is made of lower case letters, digits, `-` and `_`, and begins with a letter.
    fileprivate func isName(ofAtMost length: Int) -> Bool {
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard (1...length).contains(utf8.count), let first = utf8.first, letters.contains(first) else { return false }
        return utf8.allSatisfy { byte in
            letters.contains(byte) || digits.contains(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
        }
    }
}

/// The name of a challenge type: 1 to 64 lower case letters, digits, `-` and `_`, beginning with a letter.
public struct TypeName: Hashable, Sendable, CustomStringConvertible {
    /// The name.
    public let description: String

    /// The type that exists from the start.
    public static let confirm = TypeName(known: "confirm")
    /// The type of the PIN, which exists from the start.
    public static let pin = TypeName(known: "pin")
    /// The type of biometrics, which exists from the start.
    public static let biometric = TypeName(known: "biometric")
    /// The type of challenges that a device claims by their code, which exists from the start.
    public static let qr = TypeName(known: "qr")

    /// The type by which apps that were written for Cotter ask, once an operator has made it.
    package static let cotter = TypeName(known: "cotter")

    /// The type of the challenge that asks whether a new device may be added; only the server can use it.
    public static let newDevice = TypeName(known: "new-device")
    /// The type of the challenge by which a device signs its user in; only the server can use it.
    public static let ownSignIn = TypeName(known: "own-sign-in")
    /// The types that only the server can use.
    package static let reserved: Set<TypeName> = [newDevice, ownSignIn]

    private init(known name: String) {
        description = name
    }

    /// Reads a name, or nil.
    public init?(_ text: some StringProtocol) {
        guard text.isName(ofAtMost: 64) else { return nil }
        description = String(text)
    }
}

/// The 32 random bytes that make a challenge unique, written as 64 lower case hexadecimal digits.
public struct Nonce: Hashable, Sendable, CustomStringConvertible {
    /// The bytes.
    public let bytes: [UInt8]

    /// A nonce of 32 bytes, or nil.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        self.bytes = bytes
    }

    /// Reads 64 lower case hexadecimal digits, or nil.
    public init?(_ text: some StringProtocol) {
        guard let bytes = Hex.decode(text) else { return nil }
        self.init(bytes: bytes)
    }

    /// 64 lower case hexadecimal digits.
    public var description: String { Hex.encode(bytes) }
}

/// The number that a person reads on one screen and types on the other: six decimal digits.
public struct EntryNumber: Hashable, Sendable {
    /// How many digits it has.
    public static let length = 6

    /// The digits.
    public let digits: String

    /// Reads six ASCII digits, or nil.
    public init?(_ text: some StringProtocol) {
        guard text.utf8.count == Self.length,
            text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        digits = String(text)
    }

    /// The digits of a number below one million, with leading zeros.
    public init(value: UInt32) {
        precondition(value < 1_000_000)
        digits = String(String(value + 1_000_000).dropFirst())
    }
}
