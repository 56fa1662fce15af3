import ArgumentParser

/// Why a value is not valid for a setting.
struct SettingComplaint: Error, Hashable {
    /// The form of a valid value.
    let expected: String

    init(_ expected: String) {
        self.expected = expected
    }
}

/// The description of a setting for people, independent of its value.
struct SettingDescription: Sendable {
    /// The setting's name in the file: names joined by dots.
    let key: String
    /// The form of a value.
    let form: String
    /// The default, as shown to people.
    let fallback: String
    /// What the setting does, in sentences.
    let summary: String
    /// Whether the setting has several values.
    let isList: Bool
    /// Whether the setting is allowed only in the environment, because others can read the file and the list of
    /// processes.
    let isSecret: Bool
    /// Whether a value may contain a secret, so that it is never shown.
    let isSensitive: Bool

    /// The environment variable.
    var variable: String { Self.variable(of: key) }

    /// The flag; nil for a secret.
    var flag: String? {
        isSecret ? nil : "--" + key.replacing(".", with: "-").replacing("_", with: "-")
    }

    /// The text for `--help`.
    var help: ArgumentHelp {
        // The file's `log.level` is the flag `--log-level`, so a person who knows one finds the other.
        ArgumentHelp("\(summary) (default: $\(variable), else \(key) of the file, else \(fallback))")
    }

    static func variable(of key: String) -> String {
        "COUNTERSIGN_" + key.replacing(".", with: "_").uppercased()
    }
}

/// A setting: how its value is read, and its description.
struct Setting<Value: Sendable>: Sendable {
    /// The description for people.
    let description: SettingDescription
    /// The default.
    let fallback: Value
    /// Reads the values: one, or any number for a list.
    let read: @Sendable ([String]) throws(SettingComplaint) -> Value
}

extension Setting {
    /// A setting with one value.
    ///
    /// - Parameters:
    ///   - key: its name in the file.
    ///   - form: the form of a value.
    ///   - fallback: the default, and its text for people.
    ///   - isSecret: whether it is allowed only in the environment.
    ///   - isSensitive: whether a value may contain a secret.
    ///   - summary: what it does.
    ///   - read: the value of a text; nil if the text is not valid.
    static func one(
        _ key: String, _ form: String, fallback: (value: Value, text: String), isSecret: Bool = false,
        isSensitive: Bool = false, _ summary: String, read: @escaping @Sendable (String) -> Value?
    ) -> Setting {
        Setting(
            description: SettingDescription(
                key: key, form: form, fallback: fallback.text, summary: summary, isList: false, isSecret: isSecret,
                isSensitive: isSecret || isSensitive),
            fallback: fallback.value
        ) { texts throws(SettingComplaint) in
            guard texts.count == 1, let value = read(texts[0]) else { throw SettingComplaint(form) }
            return value
        }
    }

    /// A setting that need not be set.
    ///
    /// It has its own function, because an invalid text must not pass for no value.
    static func optional<Wrapped: Sendable>(
        _ key: String, _ form: String, fallbackText: String, isSecret: Bool = false, _ summary: String,
        read: @escaping @Sendable (String) -> Wrapped?
    ) -> Setting where Value == Wrapped? {
        .one(key, form, fallback: (nil, fallbackText), isSecret: isSecret, summary) { text in
            read(text).map { Optional($0) }
        }
    }

    /// A setting with any number of values.
    static func list<Element: Sendable>(
        _ key: String, _ form: String, _ summary: String, read: @escaping @Sendable (String) -> Element?
    ) -> Setting where Value == [Element] {
        Setting(
            description: SettingDescription(
                key: key, form: form, fallback: "none", summary: summary, isList: true, isSecret: false,
                isSensitive: false),
            fallback: []
        ) { texts throws(SettingComplaint) in
            var values: [Element] = []
            for text in texts {
                guard let value = read(text) else { throw SettingComplaint(form) }
                values.append(value)
            }
            return values
        }
    }

    /// A setting that is `true` or `false`.
    static func switched(_ key: String, fallback: Bool, _ summary: String) -> Setting where Value == Bool {
        .one(key, "true or false", fallback: (fallback, "\(fallback)"), summary) { text in
            switch text {
            case "true": true
            case "false": false
            default: nil
            }
        }
    }

    /// A setting that is any text but an empty one, such as a file or a command.
    static func text(
        _ key: String, _ form: String, _ summary: String, fallbackText: String = "none"
    ) -> Setting where Value == String? {
        .optional(key, form, fallbackText: fallbackText, summary) { $0.isEmpty ? nil : $0 }
    }
}

extension Setting where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    /// A setting whose value is one of some words.
    static func choice(_ key: String, fallback: Value, _ summary: String) -> Setting {
        let words = Value.allCases.map(\.rawValue).joined(separator: ", ")
        return .one(key, "one of \(words)", fallback: (fallback, fallback.rawValue), summary) { Value(rawValue: $0) }
    }
}

/// A setting of any type, for code that works on all settings.
struct AnySetting: Sendable {
    /// The description for people.
    let description: SettingDescription
    /// Why these values are not valid; nil if they are.
    let complaint: @Sendable ([String]) -> SettingComplaint?

    init<Value>(_ setting: Setting<Value>) {
        description = setting.description
        complaint = { texts in
            do throws(SettingComplaint) {
                _ = try setting.read(texts)
                return nil
            } catch {
                return error
            }
        }
    }
}
