import ArgumentParser

/// Why a value cannot be what a setting is set to.
struct SettingComplaint: Error, Hashable {
    /// What a right value looks like.
    let expected: String

    init(_ expected: String) {
        self.expected = expected
    }
}

/// What is known of a setting besides its value: everything that a person reads about it.
struct SettingDescription: Sendable {
    /// Where it stands in the file: names joined by dots.
    let key: String
    /// What a value looks like.
    let form: String
    /// What holds when nobody sets it, as a person reads it.
    let fallback: String
    /// What it does, in sentences.
    let summary: String
    /// Whether it holds several values.
    let isList: Bool
    /// Whether it may stand in the environment alone, because the file and the list of processes are read by others.
    let isSecret: Bool
    /// Whether a value may hold a secret, so that it is never shown.
    let isSensitive: Bool

    /// The variable of the environment.
    var variable: String { Self.variable(of: key) }

    /// The flag; nil for a secret.
    var flag: String? {
        isSecret ? nil : "--" + key.replacing(".", with: "-").replacing("_", with: "-")
    }

    /// What `--help` says.
    var help: ArgumentHelp {
        // The file's `log.level` is the flag's `--log-level`: a person finds one by the other.
        ArgumentHelp("\(summary) (default: $\(variable), else \(key) of the file, else \(fallback))")
    }

    static func variable(of key: String) -> String {
        "COUNTERSIGN_" + key.replacing(".", with: "_").uppercased()
    }
}

/// One thing an operator decides: how it is read, and what is known of it.
struct Setting<Value: Sendable>: Sendable {
    /// What a person reads about it.
    let description: SettingDescription
    /// What holds when nobody sets it.
    let fallback: Value
    /// Reads its values: one, or as many as there are for a list.
    let read: @Sendable ([String]) throws(SettingComplaint) -> Value
}

extension Setting {
    /// A setting with one value.
    ///
    /// - Parameters:
    ///   - key: where it stands in the file.
    ///   - form: what a value looks like.
    ///   - fallback: what holds when nobody sets it, and how a person reads that.
    ///   - isSecret: whether it may stand in the environment alone.
    ///   - isSensitive: whether a value may hold a secret.
    ///   - summary: what it does.
    ///   - read: what a text means, or nil.
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

    /// A setting that nothing need be set to.
    ///
    /// A function of its own, because a text that cannot be read must not pass for none.
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

    /// A setting that names a file, a command or whatever is not empty.
    static func text(
        _ key: String, _ form: String, _ summary: String, fallbackText: String = "none"
    ) -> Setting where Value == String? {
        .optional(key, form, fallbackText: fallbackText, summary) { $0.isEmpty ? nil : $0 }
    }
}

extension Setting where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    /// A setting that is one of some words.
    static func choice(_ key: String, fallback: Value, _ summary: String) -> Setting {
        let words = Value.allCases.map(\.rawValue).joined(separator: ", ")
        return .one(key, "one of \(words)", fallback: (fallback, fallback.rawValue), summary) { Value(rawValue: $0) }
    }
}

/// A setting of whatever type, for what is done with all of them.
struct AnySetting: Sendable {
    /// What a person reads about it.
    let description: SettingDescription
    /// Why these values cannot be its, or nil.
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
