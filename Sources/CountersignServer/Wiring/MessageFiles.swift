package import CountersignDelivery
package import CountersignWire
import Encodings
import Foundation

/// The operator's settings for the texts of messages to people.
package struct MessageTexts: Sendable {
    /// The sender's name as people know it; nil for the issuer's host.
    package var sender: String?
    /// The language for people whose language is not known.
    package var language = LanguageTag.english
    /// The folder with the operator's own templates.
    package var folder: String?

    /// Creates settings for the built-in texts.
    package init() {}

    func templates(issuer: Issuer) throws(StartError) -> MessageTemplates {
        do throws(MessageTemplates.Refusal) {
            return try MessageTemplates(
                folder: folder, language: language, sender: sender ?? issuer.host, issuer: issuer)
        } catch {
            throw StartError("The templates cannot be used: \(error).")
        }
    }
}

/// The operator's settings for the mail server, with the password in a file.
package struct MailFiles: Sendable {
    /// The server, without credentials.
    package var server: SMTPSettings
    /// The user name, if the server requires one.
    package var username: String?
    /// The file with the password, if the server requires one.
    package var passwordFile: String?

    /// Creates settings for a server that requires no credentials.
    package init(server: SMTPSettings) {
        self.server = server
    }

    func settings() throws(StartError) -> SMTPSettings {
        var settings = server
        if let authorities = server.authorities, !FileManager.default.isReadableFile(atPath: authorities) {
            throw StartError("\(authorities) cannot be read. It must hold certificates in PEM.")
        }
        if let username, let passwordFile {
            guard server.security != .none || ServerSettings.isLoopback(server.host) else {
                throw StartError("A password would go to \(server.host) in the clear. Set smtp.security to starttls.")
            }
            settings.credentials = .init(username: username, password: try secret(in: passwordFile))
        }
        return settings
    }
}

/// The operator's settings for the text message gateway, with the secrets in files.
package enum TextGatewayFiles: Sendable {
    /// Twilio: the account's SID, the file with its token, the sender, and a URL that replaces Twilio's.
    case twilio(account: String, tokenFile: String, from: String, url: String?)
    /// Another gateway, described by a template.
    case described(DescribedGateway)

    func gateway() throws(StartError) -> TextGateway {
        do {
            switch self {
            case .twilio(let account, let tokenFile, let from, let url):
                let token = try secret(in: tokenFile)
                guard let url else { return try .twilio(account: account, token: token, from: from) }
                return try .twilio(account: account, token: token, from: from, url: url)
            case .described(let gateway):
                return try TextGateway(
                    url: gateway.url, headers: try gateway.headers(), format: gateway.format, body: gateway.body,
                    from: gateway.from, success: gateway.success)
            }
        } catch let error as TextGateway.Refusal {
            throw StartError("Text messages cannot be sent: \(error).")
        } catch {
            throw StartError("\(error)")
        }
    }
}

/// A template for the requests to a gateway.
package struct DescribedGateway: Sendable {
    /// The URL to post to.
    package var url: String
    package var format: TextGateway.Format
    /// The body, with the placeholders `{{to}}`, `{{from}}` and `{{text}}`.
    package var body: String
    /// The sender of the messages.
    package var from: String
    /// The file with header fields, one on each line.
    package var headersFile: String?
    /// A text that a reply must contain.
    package var success: String?

    package init(url: String, format: TextGateway.Format, body: String, from: String) {
        self.url = url
        self.format = format
        self.body = body
        self.from = from
    }

    fileprivate func headers() throws(StartError) -> [(name: String, value: Secret<String>)] {
        guard let headersFile else { return [] }
        var headers: [(name: String, value: Secret<String>)] = []
        for line in try secret(in: headersFile).reveal().split(whereSeparator: \.isNewline) {
            let parts = line.split(separator: ":", maxSplits: 1)
            let name = parts[0].trimmingCharacters(in: .whitespaces)
            guard parts.count == 2, !name.isEmpty, name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
                throw StartError(
                    "\(headersFile) must hold a header field in each line, such as Authorization: Bearer ….")
            }
            headers.append((name, Secret(parts[1].trimmingCharacters(in: .whitespaces))))
        }
        return headers
    }
}

/// Reads a secret that is the whole content of a file.
func secret(in file: String) throws(StartError) -> Secret<String> {
    guard let bytes = FileManager.default.contents(atPath: file), let text = String(strictUTF8: bytes) else {
        throw StartError("\(file) cannot be read. It must hold a secret.")
    }
    let secret = text.trimmingCharacters(in: .whitespacesAndNewlines)
    guard !secret.isEmpty else { throw StartError("\(file) is empty. It must hold a secret.") }
    return Secret(secret)
}
