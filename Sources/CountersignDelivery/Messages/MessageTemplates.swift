package import CountersignCore
package import CountersignWire
import Encodings
import Foundation
import Mustache

/// The templates of messages to people: the built-in ones, and those with which an operator replaces them.
///
/// A folder of templates has a folder for each language, with a file for each part of a template: `de/code.subject`,
/// `de/code.text`, `de/code.html`, `de/code.sms`. The files are Mustache templates; values in HTML are escaped.
package struct MessageTemplates: Sendable {
    /// Why a folder of templates cannot be used.
    package struct Refusal: Error, Hashable, CustomStringConvertible {
        /// The problem, with the name of the file.
        package let description: String
    }

    /// A rendered mail.
    package struct Mail: Hashable, Sendable {
        /// The subject, one line.
        package var subject: String
        /// The plain text.
        package var text: String
        /// The same content as HTML.
        package var html: String
        package var language: LanguageTag
    }

    private enum Part: String, CaseIterable {
        case subject
        case text
        case html
        case sms
    }

    /// The content type for HTML templates; Mustache's own compares whole characters and misses some that need
    /// escaping.
    private static let pageType: String = {
        MustacheContentTypes.register(Page(), named: "PAGE")
        return "PAGE"
    }()

    private struct Page: MustacheContentType {
        func escapeText(_ text: String) -> String { HTMLText.escaped(text) }
    }

    private let templates: [LanguageTag: [String: MustacheTemplate]]
    private let language: LanguageTag
    /// The sender's display name.
    let sender: String
    private let host: String

    /// Reads the templates of a deployment.
    ///
    /// - Parameters:
    ///   - folder: the operator's own templates; nil for none.
    ///   - language: the language for people whose language is unknown.
    ///   - sender: the sender's display name.
    ///   - issuer: the deployment's issuer, whose host appears in the last line of codes.
    /// - Throws: ``Refusal`` for the first file that cannot be used.
    package init(
        folder: String? = nil, language: LanguageTag = .english, sender: String, issuer: Issuer
    ) throws(Refusal) {
        var texts: [LanguageTag: [String: String]] = [:]
        for (name, parts) in Self.builtIn {
            if let tag = LanguageTag(name) { texts[tag] = parts }
        }
        if let folder {
            for (tag, parts) in try Self.read(folder) { texts[tag, default: [:]].merge(parts) { $1 } }
        }
        self.language = language
        self.sender = sender
        host = issuer.host
        var templates: [LanguageTag: [String: MustacheTemplate]] = [:]
        for (tag, parts) in texts {
            for template in MessageTemplate.allCases {
                for part in Part.allCases {
                    let name = "\(template.rawValue).\(part.rawValue)"
                    guard let text = parts[name] else {
                        throw Refusal(description: "\(tag)/\(name) is missing: a language needs all of its parts")
                    }
                    templates[tag, default: [:]][name] = try Self.parse(text, part, "\(tag)/\(name)")
                }
            }
        }
        self.templates = templates
        guard language.fallbacks.contains(where: { templates[$0] != nil }) else {
            throw Refusal(description: "there are no templates in \(language), which is to be used by default")
        }
        try refuseLostCodes()
    }

    /// Renders a message as a mail.
    package func mail(_ message: PersonalMessage) -> Mail {
        let language = chosen(for: message.language)
        return Mail(
            subject: Self.line(render(message, .subject, language)), text: render(message, .text, language),
            html: render(message, .html, language), language: language)
    }

    /// Renders a message as a text message.
    ///
    /// The last line of a message with a code lets phones fill in the code, but only on this deployment's own host; a
    /// client's page is on another host and gets no such line.
    ///
    /// Spec: Origin-bound one-time codes, *Message format*.
    package func text(_ message: PersonalMessage) -> String {
        let text = render(message, .sms, chosen(for: message.language)).trimmingCharacters(in: .whitespacesAndNewlines)
        let isTypedHere = message.template == .signIn || message.values["sender"] == nil
        guard let code = message.values["code"], isTypedHere else { return text }
        return "\(text)\n\n@\(host) #\(code.reveal())"
    }

    private func chosen(for language: LanguageTag?) -> LanguageTag {
        let wanted = (language?.fallbacks ?? []) + self.language.fallbacks
        return wanted.first { templates[$0] != nil } ?? .english
    }

    private func render(_ message: PersonalMessage, _ part: Part, _ language: LanguageTag) -> String {
        var values = message.values.mapValues { $0.reveal() }
        values["sender"] = values["sender"] ?? sender
        // Isolates the writing direction of these values, so that other scripts cannot reorder the surrounding text.
        let shown = ["sender", "question", "place", "device", "passkey", "address"]
        for name in shown { values[name] = values[name].map(ShownText.confined) }
        values["host"] = host
        return templates[language]?["\(message.template.rawValue).\(part.rawValue)"]?.render(values) ?? ""
    }

    /// Replaces control characters, which could end a header field, by spaces.
    private static func line(_ text: String) -> String {
        String(
            String.UnicodeScalarView(text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 })
        )
        .trimmingCharacters(in: .whitespaces)
    }

    private static func parse(_ text: String, _ part: Part, _ name: String) throws(Refusal) -> MustacheTemplate {
        do {
            // On a line of its own, so that a section on the first line of the text leaves no empty line.
            return try MustacheTemplate(string: "{{% CONTENT_TYPE:\(part == .html ? pageType : "TEXT")}}\n" + text)
        } catch let error as MustacheTemplate.ParserError {
            throw Refusal(description: "\(name), line \(error.context.lineNumber - 1): \(error.error)")
        } catch {
            throw Refusal(description: "\(name) is no Mustache template")
        }
    }

    /// Rejects a template that lacks its code or its link, for example because of a typo: it would lock users out.
    private func refuseLostCodes() throws(Refusal) {
        let code = EntryNumber(value: 918_273)
        let link = "https://\(host)/signin/link"
        for language in templates.keys {
            let byLink = PersonalMessage.exampleByLink(Secret(link), in: language)
            for part in [Part.text, .html] where !render(byLink, part, language).contains(link) {
                throw Refusal(
                    description:
                        "\(language)/sign-in.\(part.rawValue) does not show {{link}} where there is no {{code}}")
            }
            for template in [MessageTemplate.code, .signIn] {
                let message = PersonalMessage.example(template, code, in: language)
                for part in [Part.text, .html, .sms] where !render(message, part, language).contains(code.digits) {
                    throw Refusal(
                        description: "\(language)/\(template.rawValue).\(part.rawValue) does not show {{code}}")
                }
            }
        }
    }

    private static func read(_ folder: String) throws(Refusal) -> [LanguageTag: [String: String]] {
        let known = Set(
            MessageTemplate.allCases.flatMap { name in Part.allCases.map { "\(name.rawValue).\($0.rawValue)" } })
        var texts: [LanguageTag: [String: String]] = [:]
        for language in try names(in: folder) {
            guard let tag = LanguageTag(language), "\(tag)" == language else {
                throw Refusal(description: "\(folder)/\(language) is not the name of a language, such as de or pt-BR")
            }
            for name in try names(in: "\(folder)/\(language)") {
                let path = "\(folder)/\(language)/\(name)"
                guard known.contains(name) else {
                    throw Refusal(
                        description:
                            "\(path) is no part of a template: those are \(known.sorted().joined(separator: ", "))")
                }
                guard let bytes = FileManager.default.contents(atPath: path),
                    let text = String(validating: bytes, as: UTF8.self)
                else { throw Refusal(description: "\(path) cannot be read as UTF-8") }
                texts[tag, default: [:]][name] = text
            }
        }
        return texts
    }

    /// The names in a folder, except hidden files.
    private static func names(in folder: String) throws(Refusal) -> [String] {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
            throw Refusal(description: "\(folder) is no folder that can be read")
        }
        return names.filter { !$0.hasPrefix(".") }.sorted()
    }
}
