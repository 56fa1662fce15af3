import Encodings

/// What a device signs to register a custom authenticator, or to give it up, as text.
///
/// It is signed as a ``MethodChange`` is, by the primary key and where there is one by the PIN's key. There is no key of
/// its own: it is a relying party that judges. Spec: design 3.1, *Changing methods*.
public struct AuthenticatorChange: Hashable, Sendable {
    /// What it begins with.
    public let header: ChangeHeader
    /// Which authenticator.
    public let name: AuthenticatorName
    /// The SHA-256 hash of the sealed data that registers it; nil where it is given up.
    public let customDataHash: [UInt8]?

    /// A change of these parts.
    public init(_ header: ChangeHeader, name: AuthenticatorName, customDataHash: [UInt8]?) {
        self.header = header
        self.name = name
        self.customDataHash = customDataHash
    }

    /// The text that is signed: lines separated by LF, without a final one.
    public var text: String {
        var lines = header.lines(for: .custom(name))
        if let customDataHash { lines.append("custom-data: \(HashLine.value(customDataHash))") }
        return lines.joined(separator: "\n")
    }

    /// Reads a change, or nil; whatever is accepted renders to the same bytes again.
    public init?(_ text: String) {
        var lines = FieldLines(text)
        do {
            header = try ChangeHeader(from: &lines)
            guard case .custom(let name) = try lines.required("method", { AnswerMethod(rawValue: String($0)) }) else {
                return nil
            }
            self.name = name
            customDataHash = try lines.optional("custom-data", HashLine.hash)
        } catch {
            return nil
        }
        guard self.text.hasSameBytes(as: text) else { return nil }
    }
}

/// What an app hands to a custom authenticator, as the text that the device signs and seals.
///
/// It has a first line of its own, so that an app cannot have the device's key sign anything else. Receipts and changes
/// name the hash of the sealed message, which tells nobody what is in it: the hash of a short secret would. Spec: design
/// 3.4.
public struct CustomData: Hashable, Sendable {
    /// The first line, which keeps it apart from anything else a key signs.
    public static let title = "Countersign custom data v1"
    /// How long the data may be, in bytes of UTF-8.
    public static let maximumLength = 16_384

    /// The data, as the app and the relying party understand it.
    public let data: String

    /// Data of at most ``maximumLength`` bytes, or nil.
    public init?(_ data: String) {
        guard data.utf8.count <= Self.maximumLength else { return nil }
        self.data = data
    }

    /// The text that is signed: two lines separated by LF, without a final one.
    public var text: String { "\(Self.title)\ndata: \(Base64.encode(Array(data.utf8)))" }

    /// Reads the text, or nil; whatever is accepted renders to the same bytes again.
    public init?(parsing text: String) {
        var lines = FieldLines(text)
        guard lines.take()?.hasSameBytes(as: Self.title) == true,
            let data = try? lines.required("data", { Base64.decode($0).flatMap { String(strictUTF8: $0) } }),
            data.utf8.count <= Self.maximumLength
        else { return nil }
        self.data = data
        guard self.text.hasSameBytes(as: text) else { return nil }
    }
}
