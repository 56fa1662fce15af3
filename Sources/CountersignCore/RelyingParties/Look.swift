import Crypto
import Encodings

/// What a client replaces on the pages that are shown on its behalf, besides its name.
package struct Look: Hashable, Sendable {
    /// A logo, without its bytes.
    package struct Picture: Hashable, Sendable {
        /// What names it.
        package let hash: LogoHash
        /// The width in pixels.
        package let width: Int
        /// The height in pixels.
        package let height: Int

        /// A logo of these parts.
        package init(hash: LogoHash, width: Int, height: Int) {
            self.hash = hash
            self.width = width
            self.height = height
        }
    }

    /// The logo; nil for none.
    package let logo: Picture?
    /// The colour; nil for the pages' own.
    package let accent: Accent?

    /// A look of these parts.
    package init(logo: Picture?, accent: Accent?) {
        self.logo = logo
        self.accent = accent
    }
}

/// What names a logo: who does not have the logo cannot tell its name, and the name says nothing of the client.
package struct LogoHash: Hashable, Sendable {
    /// SHA-256.
    package let bytes: [UInt8]

    /// The hash of a logo.
    init(of logo: [UInt8]) {
        bytes = Array(SHA256.hash(data: logo))
    }

    /// A hash as ``hex`` writes it; nil for any other text.
    package init?(hex: String) {
        guard let bytes = Hex.decode(hex), bytes.count == SHA256.byteCount else { return nil }
        self.bytes = bytes
    }

    /// A hash read from the database.
    package init(stored bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The hash in hexadecimal digits.
    package var hex: String { Hex.encode(bytes) }
}
