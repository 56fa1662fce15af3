package import CountersignDelivery
package import CountersignWire
import Encodings
import Foundation

/// What messages to people say, and in which language.
package struct MessageTexts: Sendable {
    /// Whom messages are from, as people know it; nil for the issuer's host.
    package var sender: String?
    /// The language for people of whom it is not known.
    package var language = LanguageTag.english
    /// The folder of an operator's own templates.
    package var folder: String?

    /// Texts as they come with the program.
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

/// The mail server, and where its password is.
package struct MailFiles: Sendable {
    /// The server, without what it asks for.
    package var server: SMTPSettings
    /// The name it asks for.
    package var username: String?
    /// The file that holds the password it asks for.
    package var passwordFile: String?

    /// A server that asks for nothing.
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

/// The gateway for text messages, and where its secrets are.
package enum TextGatewayFiles: Sendable {
    /// Twilio: the account's SID, the file with its token, whom messages are from, and who answers in its stead.
    case twilio(account: String, tokenFile: String, from: String, url: String?)
    /// Another, described by a template.
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

/// How a gateway is called.
package struct DescribedGateway: Sendable {
    /// Where to post.
    package var url: String
    /// How the body is written.
    package var format: TextGateway.Format
    /// The body, with `{{to}}`, `{{from}}` and `{{text}}`.
    package var body: String
    /// Whom messages are from.
    package var from: String
    /// The file with header fields, a line each.
    package var headersFile: String?
    /// What a reply must hold.
    package var success: String?

    /// A gateway of these parts.
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

/// The secret that is all of a file.
private func secret(in file: String) throws(StartError) -> Secret<String> {
    guard let bytes = FileManager.default.contents(atPath: file), let text = String(strictUTF8: bytes) else {
        throw StartError("\(file) cannot be read. It must hold a secret.")
    }
    let secret = text.trimmingCharacters(in: .whitespacesAndNewlines)
    guard !secret.isEmpty else { throw StartError("\(file) is empty. It must hold a secret.") }
    return Secret(secret)
}
