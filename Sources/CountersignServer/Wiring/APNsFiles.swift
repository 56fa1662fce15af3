import CountersignDelivery
package import CountersignWire
import Crypto
import Foundation

/// The id of a team or a key at Apple: 10 capital letters and digits.
package struct AppleID: Sendable, CustomStringConvertible {
    package let description: String

    package init?(_ text: String) {
        let capitals = UInt8(ascii: "A")...UInt8(ascii: "Z")
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard text.utf8.count == 10, text.utf8.allSatisfy({ capitals.contains($0) || digits.contains($0) }) else {
            return nil
        }
        description = text
    }
}

/// The operator's settings for APNs, with the key in a file.
package struct APNsFiles: Sendable {
    package var team: AppleID
    package var keyID: AppleID
    /// The file with the key, as Apple provides it: `AuthKey_….p8`.
    package var keyFile: String
    /// The bundle identifiers of the apps.
    package var apps: [AppID]
    /// The URL to send to instead of Apple's.
    package var url: String?
    /// A file of trusted certificates that replaces the system's.
    package var authorities: String?

    package init(team: AppleID, keyID: AppleID, keyFile: String, apps: [AppID]) {
        self.team = team
        self.keyID = keyID
        self.keyFile = keyFile
        self.apps = apps
    }

    /// Reads the key from its file.
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
