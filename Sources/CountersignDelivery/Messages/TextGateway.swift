import CountersignWire
package import Encodings
import Foundation
import Mustache

/// A service that sends text messages and is called over HTTP.
package struct TextGateway: Sendable {
    /// The description of a gateway is invalid.
    package struct Refusal: Error, Hashable, CustomStringConvertible {
        package let description: String
    }

    /// The format of the request's body.
    package enum Format: String, CaseIterable, Sendable {
        /// `application/json`
        case json
        /// `application/x-www-form-urlencoded`
        case form

        var mediaType: String {
            switch self {
            case .json: "application/json"
            case .form: "application/x-www-form-urlencoded"
            }
        }
    }

    let url: String
    let headers: [(name: String, value: Secret<String>)]
    let mediaType: String
    /// A text that a successful reply must contain, besides a status of 2xx; nil for none.
    let success: String?
    private let body: MustacheTemplate
    private let from: String

    /// Creates a gateway from a template.
    ///
    /// - Parameters:
    ///   - url: the URL to post to; `https`, or `http` on this machine.
    ///   - headers: header fields such as `Authorization`, with their values.
    ///   - format: the format of the body, which also decides how values are escaped.
    ///   - body: a Mustache template with `{{to}}`, `{{from}}` and `{{text}}`.
    ///   - from: the sender.
    ///   - success: a text that a successful reply must contain, besides a status of 2xx; nil for none.
    /// - Throws: ``Refusal``.
    package init(
        url: String, headers: [(name: String, value: Secret<String>)], format: Format, body: String, from: String,
        success: String? = nil
    ) throws(Refusal) {
        let components = URLComponents(string: url)
        let isLoopback = components?.host.map { Issuer.isLoopback($0) } ?? false
        guard components?.scheme == "https" || components?.scheme == "http" && isLoopback, components?.user == nil
        else {
            throw Refusal(description: "the gateway's URL must be https, or http to this machine, without a name in it")
        }
        _ = Self.isRegistered
        guard let template = try? MustacheTemplate(string: "{{% CONTENT_TYPE:\(format.rawValue)}}" + body) else {
            throw Refusal(description: "the gateway's body is no Mustache template")
        }
        self.url = url
        self.headers = headers
        self.mediaType = format.mediaType
        self.success = success
        self.body = template
        self.from = from
        let sample = self.body(to: "+15551234567", text: "line\n\"two\"")
        guard sample.contains("15551234567"), sample.contains("two") else {
            throw Refusal(description: "the gateway's body must hold {{to}} and {{text}}")
        }
        if format == .json, (try? JSONValue(parsing: Array(sample.utf8))) == nil {
            throw Refusal(
                description:
                    "the gateway's body is not JSON; {{to}}, {{from}} and {{text}} stand inside quotation marks")
        }
    }

    /// Creates a gateway for Twilio or a compatible service.
    ///
    /// - Parameters:
    ///   - account: the account's SID, `AC…`.
    ///   - token: the account's auth token.
    ///   - from: a number of the account, or the SID of a messaging service, `MG…`.
    ///   - url: the base URL of the service.
    /// - Throws: ``Refusal``.
    package static func twilio(
        account: String, token: Secret<String>, from: String, url: String = "https://api.twilio.com"
    ) throws(Refusal) -> TextGateway {
        let sender = from.hasPrefix("MG") ? "MessagingServiceSid" : "From"
        let basic = Secret("Basic " + Base64.encode(Array("\(account):\(token.reveal())".utf8)))
        return try TextGateway(
            url: "\(url)/2010-04-01/Accounts/\(account)/Messages.json", headers: [("authorization", basic)],
            format: .form,
            body: "To={{to}}&\(sender)={{from}}&Body={{text}}", from: from)
    }

    func body(to number: String, text: String) -> String {
        body.render(["to": number, "from": from, "text": text])
    }

    /// Registers the escaping of values for each format, once.
    private static let isRegistered: Bool = {
        MustacheContentTypes.register(InJSON(), named: Format.json.rawValue)
        MustacheContentTypes.register(InForm(), named: Format.form.rawValue)
        return true
    }()

    private struct InJSON: MustacheContentType {
        func escapeText(_ text: String) -> String { String(JSONValue.string(text).text.dropFirst().dropLast()) }
    }

    private struct InForm: MustacheContentType {
        private static let unreserved = CharacterSet(
            charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._*")

        func escapeText(_ text: String) -> String {
            text.addingPercentEncoding(withAllowedCharacters: Self.unreserved) ?? ""
        }
    }
}
