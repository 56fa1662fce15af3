import CountersignWire
package import Encodings
import Foundation
import Mustache

/// Who sends text messages: a service that is called over HTTP.
package struct TextGateway: Sendable {
    /// Why a gateway cannot be called as it is described.
    package struct Refusal: Error, Hashable, CustomStringConvertible {
        /// What is wrong.
        package let description: String
    }

    /// How the body of a call is written.
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
    /// What a reply must hold, besides a status of 2xx.
    let success: String?
    private let body: MustacheTemplate
    private let from: String

    /// A gateway described by a template.
    ///
    /// - Parameters:
    ///   - url: where to post; `https`, or `http` to this machine.
    ///   - headers: fields such as `Authorization`, with their values.
    ///   - format: how the body is written, and how what stands in it is escaped.
    ///   - body: a Mustache template with `{{to}}`, `{{from}}` and `{{text}}`.
    ///   - from: whom messages are from.
    ///   - success: what a reply must hold, besides a status of 2xx; nil for nothing.
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

    /// Twilio, or who answers as it does.
    ///
    /// - Parameters:
    ///   - account: the account's SID, `AC…`.
    ///   - token: its auth token.
    ///   - from: a number of the account, or the SID of a messaging service, `MG…`.
    ///   - url: who answers as Twilio does.
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

    /// Registers how the values in a body are escaped, once.
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
