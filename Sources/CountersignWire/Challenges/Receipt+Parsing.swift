import Encodings
import OpenPGP

/// Why a text is not a valid receipt.
public enum ReceiptError: Error, Equatable, Sendable {
    /// It is not a receipt, or a receipt of another version.
    case notAReceipt
    /// The line of this field is missing, misplaced or malformed.
    case malformedField(String)
    /// Every field can be read, but the text is not what the renderer writes for these fields.
    case notCanonical
}

extension Receipt {
    /// Reads a receipt.
    ///
    /// Every accepted text renders to the same bytes again.
    public init(parsing text: String) throws(ReceiptError) {
        try self.init(reading: text)
        guard self.text.hasSameBytes(as: text) else { throw .notCanonical }
    }

    /// Reads the fields of a text that may not be what the renderer writes for them.
    ///
    /// It is a receipt only if it has the same bytes as a rendered one, which the caller compares.
    package init(reading text: String) throws(ReceiptError) {
        var lines = FieldLines(text)
        guard lines.take()?.hasSameBytes(as: Self.title) == true else { throw .notAReceipt }
        issuer = try lines.required("issuer") { Issuer($0) }
        challenge = try lines.required("challenge") { ChallengeID($0) }
        nonce = try lines.required("nonce") { Nonce($0) }
        (clientName, client) = try lines.required("client", Self.client)
        user = try lines.required("user") { UserID($0) }
        device = try lines.required("device") { Fingerprint($0) }
        decision = try Self.decision(&lines)
        customDataHash = try decision.isCustom ? lines.required("custom-data", HashLine.hash) : nil
        type = try lines.required("type") { TypeName($0) }
        context = try lines.optional("context") { try? DisplayLine(String($0)) }
        askedAt = try lines.required("asked") { Timestamp($0) }
        answeredAt = try lines.required("answered") { Timestamp($0) }
        var details: [Detail] = []
        while let detail = try lines.optional("detail", Self.detail) { details.append(detail) }
        self.details = details
        signingDataHash = try lines.optional("signing-data", HashLine.hash)
        guard lines.take()?.hasSameBytes(as: "message:") == true, let message = try? DisplayMessage(lines.rest) else {
            throw .malformedField("message")
        }
        self.message = message
    }

    private static func client(_ value: Substring) -> (ClientName, ClientID)? {
        guard value.utf8.last == UInt8(ascii: ")"), let opening = value.utf8.lastIndex(of: UInt8(ascii: "(")),
            value[..<opening].utf8.last == UInt8(ascii: " "),
            let name = try? ClientName(String(Substring(value[..<opening].utf8.dropLast()))),
            let id = ClientID(Substring(value.utf8[opening...].dropFirst().dropLast()))
        else { return nil }
        return (name, id)
    }

    private static func decision(_ lines: inout FieldLines) throws(ReceiptError) -> Decision {
        switch try lines.required("decision", { String($0) }) {
        case "approved":
            let method = try lines.required("method") { AnswerMethod(rawValue: String($0)) }
            return .approved(method, number: try lines.optional("number") { EntryNumber($0) })
        case "denied": return .denied
        case "reported": return .reported
        default: throw .malformedField("decision")
        }
    }

    private static func detail(_ value: Substring) -> Detail? {
        // A label contains no `=`, so the first one is the separator.
        let blank = UInt8(ascii: " ")
        guard let sign = value.utf8.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        let label = value.utf8[..<sign]
        let text = value.utf8[value.utf8.index(after: sign)...]
        guard label.last == blank, text.first == blank else { return nil }
        return try? Detail(label: String(Substring(label.dropLast())), value: String(Substring(text.dropFirst())))
    }
}

extension Decision {
    fileprivate var isCustom: Bool {
        if case .approved(.custom, _) = self { true } else { false }
    }
}
