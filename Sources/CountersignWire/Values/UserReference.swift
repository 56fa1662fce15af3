import Encodings

/// A relying party's own name for a user: a line of at most 255 Unicode scalars.
package struct ExternalID: Hashable, Sendable {
    /// The name.
    package let text: String

    /// Accepts a name.
    package init(_ text: String) throws(TextRefusal) {
        self.text = try DisplayLine(text, atMost: 255).text
    }
}

/// How a client says which user it means: `usr_…`, or `external_id:` and its own name for them.
package enum UserReference: Hashable, Sendable {
    /// By id.
    case id(UserID)
    /// By the client's own name.
    case externalID(ExternalID)

    private static let externalPrefix = "external_id:"

    /// The reference, as it is read.
    package var text: String {
        switch self {
        case .id(let id): "\(id)"
        case .externalID(let name): Self.externalPrefix + name.text
        }
    }

    /// Reads a reference, or nil.
    package init?(_ text: String) {
        if let id = UserID(text) {
            self = .id(id)
        } else if text.utf8.starts(with: Self.externalPrefix.utf8),
            let externalID = try? ExternalID(String(Substring(text.utf8.dropFirst(Self.externalPrefix.utf8.count))))
        {
            self = .externalID(externalID)
        } else {
            return nil
        }
    }
}
