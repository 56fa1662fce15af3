package import CountersignCore
package import CountersignWire
import Encodings
import Foundation
import Mustache

/// The words of messages to people: those that come with the program, and those an operator has put in their place.
///
/// A folder has a folder for each language, and in it a file for each part of a template: `de/code.subject`,
/// `de/code.text`, `de/code.html`, `de/code.sms`. The files are Mustache; what they put into HTML is escaped.
package struct MessageTemplates: Sendable {
    /// Why a folder of templates cannot be used.
    package struct Refusal: Error, Hashable, CustomStringConvertible {
        /// What is wrong, with the file.
        package let description: String
    }

    /// A mail, put into words.
    package struct Mail: Hashable, Sendable {
        /// One line.
        package var subject: String
        /// The text without any form.
        package var text: String
        /// The same as a page.
        package var html: String
        /// What language it is in.
        package var language: LanguageTag
    }

    private enum Part: String, CaseIterable {
        case subject
        case text
        case html
        case sms
    }

    /// The type of templates for pages; Mustache's own escapes whole characters and misses some.
    private static let pageType: String = {
        MustacheContentTypes.register(Page(), named: "PAGE")
        return "PAGE"
    }()

    private struct Page: MustacheContentType {
        func escapeText(_ text: String) -> String { HTMLText.escaped(text) }
    }

    private let templates: [LanguageTag: [String: MustacheTemplate]]
    private let language: LanguageTag
    /// Whom messages are from, as people know it.
    let sender: String
    private let host: String

    /// Templates for a deployment.
    ///
    /// - Parameters:
    ///   - folder: the operator's own; nil for none.
    ///   - language: the one for people of whom it is not known.
    ///   - sender: whom messages are from, as people know it.
    ///   - issuer: the deployment, whose host stands in codes' last line.
    /// - Throws: ``Refusal`` for the first file that cannot be used.
    package init(folder: String? = nil, language: LanguageTag = .english, sender: String, issuer: Issuer) throws(Refusal)
    {
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

    /// Puts a message into words, as a mail.
    package func mail(_ message: PersonalMessage) -> Mail {
        let language = chosen(for: message.language)
        return Mail(
            subject: Self.line(render(message, .subject, language)), text: render(message, .text, language),
            html: render(message, .html, language), language: language)
    }

    /// Puts a message into words, as a text message.
    ///
    /// The last line of one with a code lets phones fill it in, and only at this deployment's own host; a client's page
    /// is at another.
    /// Spec: Origin-bound one-time codes, *Message format*.
    package func text(_ message: PersonalMessage) -> String {
        let text = render(message, .sms, chosen(for: message.language)).trimmingCharacters(in: .whitespacesAndNewlines)
        guard let code = message.values["code"], message.values["sender"] == nil else { return text }
        return "\(text)\n\n@\(host) #\(code.reveal())"
    }

    private func chosen(for language: LanguageTag?) -> LanguageTag {
        let wanted = (language?.fallbacks ?? []) + self.language.fallbacks
        return wanted.first { templates[$0] != nil } ?? .english
    }

    private func render(_ message: PersonalMessage, _ part: Part, _ language: LanguageTag) -> String {
        var values = message.values.mapValues { $0.reveal() }
        values["sender"] = values["sender"] ?? sender
        // Names and questions in other scripts leave the direction of our words alone.
        for name in ["sender", "question"] { values[name] = values[name].map(ShownText.confined) }
        values["host"] = host
        return templates[language]?["\(message.template.rawValue).\(part.rawValue)"]?.render(values) ?? ""
    }

    /// What would end a header field is a blank.
    private static func line(_ text: String) -> String {
        String(
            String.UnicodeScalarView(text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 })
        )
        .trimmingCharacters(in: .whitespaces)
    }

    private static func parse(_ text: String, _ part: Part, _ name: String) throws(Refusal) -> MustacheTemplate {
        do {
            return try MustacheTemplate(string: "{{% CONTENT_TYPE:\(part == .html ? pageType : "TEXT")}}" + text)
        } catch let error as MustacheTemplate.ParserError {
            throw Refusal(description: "\(name), line \(error.context.lineNumber): \(error.error)")
        } catch {
            throw Refusal(description: "\(name) is no Mustache template")
        }
    }

    /// A message that should bring a code, and through a slip of the pen does not, would lock people out.
    private func refuseLostCodes() throws(Refusal) {
        let code = EntryNumber(value: 918_273)
        for language in templates.keys {
            let message = PersonalMessage.code(code, minutes: 10, in: language)
            for part in [Part.text, .html, .sms] where !render(message, part, language).contains(code.digits) {
                throw Refusal(description: "\(language)/code.\(part.rawValue) does not show {{code}}")
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

    /// What is in a folder, but for hidden files.
    private static func names(in folder: String) throws(Refusal) -> [String] {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
            throw Refusal(description: "\(folder) is no folder that can be read")
        }
        return names.filter { !$0.hasPrefix(".") }.sorted()
    }
}
