import CountersignDelivery
package import CountersignWire
import Encodings
import Foundation

/// Where a captcha's provider is asked: `NAME=URL`.
package struct CaptchaAddress: Sendable {
    /// The name by which challenge types need it.
    package let name: CaptchaName
    /// The URL.
    package let url: String

    /// Reads a name and a URL: `https`, or `http` to this machine.
    package init?(_ text: String) {
        let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
        // Whether this machine may be called, the outbound address policy decides.
        guard parts.count == 2, let name = CaptchaName(parts[0]),
            CallbackURI(parts[1], isDevelopment: true) != nil
        else { return nil }
        self.name = name
        url = parts[1]
    }
}

/// The operator's settings for captchas, with the secrets in a file.
package struct CaptchaFiles: Sendable {
    /// The providers.
    package var addresses: [CaptchaAddress]
    /// The file with a line for each of them: `NAME: secret`.
    package var secretsFile: String

    /// Settings of these parts.
    package init(addresses: [CaptchaAddress], secretsFile: String) {
        self.addresses = addresses
        self.secretsFile = secretsFile
    }

    /// The providers by their names.
    func providers() throws(StartError) -> [CaptchaName: CaptchaProvider] {
        var secrets: [String: Secret<String>] = [:]
        for line in try secret(in: secretsFile).reveal().split(whereSeparator: \.isNewline) {
            let parts = line.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            // The text of a line is not told: it may be a secret.
            guard parts.count == 2, !parts[1].isEmpty, addresses.contains(where: { $0.name.description == parts[0] }),
                secrets.updateValue(Secret(parts[1]), forKey: parts[0]) == nil
            else {
                throw StartError(
                    "\(secretsFile) must hold a line NAME: SECRET for each name of captcha.providers, and no other.")
            }
        }
        var providers: [CaptchaName: CaptchaProvider] = [:]
        for address in addresses {
            guard let secret = secrets[address.name.description] else {
                throw StartError("\(secretsFile) has no line for \(address.name) of captcha.providers.")
            }
            guard providers.updateValue(CaptchaProvider(url: address.url, secret: secret), forKey: address.name) == nil
            else { throw StartError("captcha.providers names \(address.name) twice.") }
        }
        return providers
    }
}
