import CountersignDelivery
import Foundation

/// Where an operator has what Google gave them to send pushes.
package struct FCMFiles: Sendable {
    /// The file with the service account's key, as Google's console gives it.
    package var account: String
    /// Where to send instead of Google's address.
    package var url: String?
    /// A file of certificates to trust instead of the system's.
    package var authorities: String?

    /// Settings with this account.
    package init(account: String) {
        self.account = account
    }

    /// The settings with the account read from its file.
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
