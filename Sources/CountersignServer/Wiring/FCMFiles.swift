import CountersignDelivery
import Foundation

/// The operator's settings for FCM, with the service account's key in a file.
package struct FCMFiles: Sendable {
    /// The file with the service account's key, as Google's console provides it.
    package var account: String
    /// The URL to send to instead of Google's.
    package var url: String?
    /// A file of trusted certificates that replaces the system's.
    package var authorities: String?

    package init(account: String) {
        self.account = account
    }

    /// Reads the service account's key from its file.
    func settings() throws(StartError) -> FCMSettings {
        guard let bytes = FileManager.default.contents(atPath: account) else {
            throw StartError("\(account) cannot be read. It must hold the key of a service account for FCM.")
        }
        do throws(FCMSettings.Refusal) {
            return try FCMSettings(serviceAccount: Array(bytes), url: url, authorities: authorities)
        } catch {
            let fault =
                switch error {
                case .notAServiceAccount: "is not the key of a service account"
                case .member(let name): "has no \(name) that can be used"
                }
            throw StartError("\(account) \(fault). Take the JSON file as Google's console gives it.")
        }
    }
}
