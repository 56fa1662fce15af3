/// Where a person is reached besides their devices.
package enum PersonalAddress: Hashable, Sendable, CustomStringConvertible {
    /// By mail.
    case email(EmailAddress)
    /// By text message.
    case phone(PhoneNumber)

    /// The kinds of address.
    package enum Kind: String, CaseIterable, Sendable {
        /// A mail address.
        case email
        /// A telephone number.
        case phone
    }

    /// The kind.
    package var kind: Kind {
        switch self {
        case .email: .email
        case .phone: .phone
        }
    }

    /// The address, as it is read.
    package var description: String {
        switch self {
        case .email(let address): "\(address)"
        case .phone(let number): "\(number)"
        }
    }

    /// Reads an address, or nil.
    package init?(_ text: String) {
        if let number = PhoneNumber(text) {
            self = .phone(number)
        } else if let address = EmailAddress(text) {
            self = .email(address)
        } else {
            return nil
        }
    }

    /// Reads what a person typed: blanks around it do not count, nor what people write between the digits of a number.
    package init?(typed text: String) {
        let bare = text.utf8.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
        let digits = bare.filter { !"()-./".utf8.contains($0) }
        if digits.first == UInt8(ascii: "+"), let number = PhoneNumber(String(decoding: digits, as: UTF8.self)) {
            self = .phone(number)
        } else if let address = EmailAddress(String(decoding: Self.trimmed(text), as: UTF8.self)) {
            self = .email(address)
        } else {
            return nil
        }
    }

    private static func trimmed(_ text: String) -> Substring.UTF8View {
        func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        var rest = Substring(text).utf8.drop(while: isBlank)
        while let last = rest.last, isBlank(last) { rest.removeLast() }
        return rest
    }
}
