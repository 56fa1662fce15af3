import Encodings

/// The text that a device signs to register or deregister a custom authenticator.
///
/// It is signed like a ``MethodChange``: by the primary key, and by the PIN's key if there is one. A custom
/// authenticator has no key, because a relying party judges it. Spec: docs/protocol/methods.md, *The text for a custom
/// authenticator*.
public struct AuthenticatorChange: Hashable, Sendable {
    /// The lines that every change begins with.
    public let header: ChangeHeader
    /// The authenticator's name.
    public let name: AuthenticatorName
    /// The SHA-256 hash of the sealed data that register it; nil to deregister it.
    public let customDataHash: [UInt8]?

    /// A change of these parts.
    public init(_ header: ChangeHeader, name: AuthenticatorName, customDataHash: [UInt8]?) {
        self.header = header
        self.name = name
        self.customDataHash = customDataHash
    }

    /// The text that is signed: lines separated by LF, without a final LF.
    public var text: String {
        var lines = header.lines(for: .custom(name))
        if let customDataHash { lines.append("custom-data: \(HashLine.value(customDataHash))") }
        return lines.joined(separator: "\n")
    }

    /// Reads a change, or nil; every accepted text renders to the same bytes again.
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

/// The app's data for a custom authenticator, as the text that the device signs and seals.
///
/// Its first line keeps an app from having the device's key sign anything else. Receipts and changes name the hash of
/// the sealed message, which reveals nothing of the content; the hash of a short secret would. Spec:
/// docs/protocol/methods.md, *Custom authenticators*.
public struct CustomData: Hashable, Sendable {
    /// The first line, which distinguishes such data from everything else that a key signs.
    public static let title = "Countersign custom data v1"
    /// The greatest length of the data, in bytes of UTF-8.
    public static let maximumLength = 16_384

    /// The data, in the format of the app and the relying party.
    public let data: String

    /// Data of at most ``maximumLength`` bytes, or nil.
    public init?(_ data: String) {
        guard data.utf8.count <= Self.maximumLength else { return nil }
        self.data = data
    }

    /// The text that is signed: two lines separated by LF, without a final LF.
    public var text: String { "\(Self.title)\ndata: \(Base64.encode(Array(data.utf8)))" }

    /// Reads the text, or nil; every accepted text renders to the same bytes again.
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
