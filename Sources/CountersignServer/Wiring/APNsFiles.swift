import CountersignDelivery
package import CountersignWire
import Crypto
import Foundation

/// What Apple calls a team or a key: 10 capital letters and digits.
package struct AppleID: Sendable, CustomStringConvertible {
    /// The id.
    package let description: String

    /// Reads an id, or nil.
    package init?(_ text: String) {
        let capitals = UInt8(ascii: "A")...UInt8(ascii: "Z")
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard text.utf8.count == 10, text.utf8.allSatisfy({ capitals.contains($0) || digits.contains($0) }) else {
            return nil
        }
        description = text
    }
}

/// What an operator has from Apple, and where its key is.
package struct APNsFiles: Sendable {
    /// The team's id.
    package var team: AppleID
    /// The name of the key.
    package var keyID: AppleID
    /// The file with the key, as Apple gives it: `AuthKey_….p8`.
    package var keyFile: String
    /// The apps, by their bundle identifiers.
    package var apps: [AppID]
    /// Where to send instead of Apple's addresses.
    package var url: String?
    /// A file of certificates to trust instead of the system's.
    package var authorities: String?

    /// Settings of these parts.
    package init(team: AppleID, keyID: AppleID, keyFile: String, apps: [AppID]) {
        self.team = team
        self.keyID = keyID
        self.keyFile = keyFile
        self.apps = apps
    }

    /// The settings with the key read from its file.
    func settings() throws(StartError) -> APNsSettings {
        guard let bytes = FileManager.default.contents(atPath: keyFile) else {
            throw StartError("\(keyFile) cannot be read. It must hold the key for APNs, AuthKey_….p8.")
        }
        guard let key = try? P256.Signing.PrivateKey(pemRepresentation: String(decoding: bytes, as: UTF8.self)) else {
            throw StartError("\(keyFile) holds no key for APNs. Take the file AuthKey_….p8 as Apple gives it.")
        }
        return APNsSettings(
            team: "\(team)", keyID: "\(keyID)", key: key, apps: Set(apps), url: url, authorities: authorities)
    }
}
