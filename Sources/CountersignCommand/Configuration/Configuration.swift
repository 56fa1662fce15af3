import CountersignServer
import Encodings
import Foundation

/// The operator's settings: flags before the environment, the file and the defaults; all values are checked.
struct Configuration: Sendable {
    /// A setting's values and their place.
    struct Source: Sendable {
        let values: [String]
        let place: String
    }

    /// The file that was read, if one was.
    let file: String?
    private let sources: [String: Source]

    /// Reads and checks all settings.
    ///
    /// - Parameters:
    ///   - flags: the values on the command line, by key.
    ///   - file: the file that the command line names.
    ///   - environment: the environment.
    init(
        flags: [String: [String]], file: String?, environment: [String: String]
    ) throws(ConfigurationFaults) {
        var faults: [ConfigurationFault] = []
        var sources: [String: Source] = [:]
        self.file = file ?? environment["COUNTERSIGN_CONFIG"] ?? Self.usualFile
        if let path = self.file {
            let file = ConfigurationFile(path: path)
            faults += file.faults
            for (key, entry) in file.entries {
                sources[key] = Source(values: entry.values, place: entry.place)
            }
        }
        faults += Self.secretsInFile(sources)
        // Values that a higher layer replaces are checked as well, so that removing a flag brings no surprise.
        faults += Self.complaints(about: sources)
        let (variables, unknown) = Self.read(environment)
        faults += unknown + Self.complaints(about: variables)
        var flagged: [String: Source] = [:]
        for setting in Settings.all.map(\.description) {
            guard let values = flags[setting.key], !values.isEmpty else { continue }
            flagged[setting.key] = Source(values: values, place: setting.flag ?? setting.key)
        }
        faults += Self.complaints(about: flagged)
        sources.merge(variables) { $1 }
        sources.merge(flagged) { $1 }
        self.sources = sources
        faults += Self.contradictions(in: sources)
        guard faults.isEmpty else { throw ConfigurationFaults(faults: faults) }
    }

    /// The value of a setting.
    subscript<Value>(_ setting: Setting<Value>) -> Value {
        guard let source = sources[setting.description.key] else { return setting.fallback }
        do throws(SettingComplaint) {
            return try setting.read(source.values)
        } catch {
            preconditionFailure("every value was checked before")
        }
    }

    /// The settings that were set, by key, with their places; the values of secrets are hidden.
    var shown: [(key: String, value: String, place: String)] {
        Settings.all.map(\.description).compactMap { setting in
            guard let source = sources[setting.key] else { return nil }
            return (setting.key, setting.isSensitive ? "•••" : source.values.joined(separator: ", "), source.place)
        }
    }

    /// The file in the current folder, if there is one.
    private static var usualFile: String? {
        FileManager.default.fileExists(atPath: "countersign.yaml") ? "countersign.yaml" : nil
    }

    private static func complaints(about sources: [String: Source]) -> [ConfigurationFault] {
        Settings.all.compactMap { setting in
            let description = setting.description
            guard let source = sources[description.key], let complaint = setting.complaint(source.values) else {
                return nil
            }
            let shown = description.isSensitive ? "" : ", not \"\(source.values.joined(separator: ", "))\""
            return ConfigurationFault(
                place: source.place, key: description.key,
                what: "\(description.key) must be \(complaint.expected)\(shown).", cure: "Set it right.")
        }
    }

    private static func read(_ environment: [String: String]) -> ([String: Source], [ConfigurationFault]) {
        var sources: [String: Source] = [:]
        var faults: [ConfigurationFault] = []
        let known = Settings.all.map(\.description)
        for (variable, text) in environment.sorted(by: { $0.key < $1.key })
        where variable.hasPrefix("COUNTERSIGN_") && !Settings.otherVariables.contains(variable) {
            guard let setting = known.first(where: { $0.variable == variable }) else {
                let near = NearName.of(variable, among: known.map(\.variable))
                faults.append(
                    ConfigurationFault(
                        place: "environment", key: nil, what: "There is no variable \(variable).",
                        cure: near.map { "Did you mean \($0)?" } ?? "Unset it."))
                continue
            }
            let values = setting.isList ? text.split(separator: ",").map { $0.trimmed } : [text]
            sources[setting.key] = Source(values: values, place: variable)
        }
        return (sources, faults)
    }

    private static func secretsInFile(_ sources: [String: Source]) -> [ConfigurationFault] {
        Settings.all.map(\.description).filter(\.isSecret).compactMap { setting in
            guard let source = sources[setting.key] else { return nil }
            return ConfigurationFault(
                place: source.place, key: setting.key, what: "\(setting.key) is a secret, and this file is not.",
                cure: "Put it into a file of its own and name that by \(setting.key)_file.")
        }
    }

    private static func contradictions(in sources: [String: Source]) -> [ConfigurationFault] {
        var faults: [ConfigurationFault] = []
        let masterKeys = [
            Settings.masterKey.description, Settings.masterKeyFile.description, Settings.masterKeyCommand.description,
        ]
        let keys = masterKeys.map(\.key).filter { sources[$0] != nil }
        if keys.count > 1, let source = sources[keys[1]] {
            faults.append(
                ConfigurationFault(
                    place: source.place, key: keys[1], what: "\(keys.joined(separator: " and ")) are both set.",
                    cure: "Keep one."))
        }
        let together = [
            [Settings.certificate.description, Settings.privateKey.description],
            [
                Settings.apnsTeam.description, Settings.apnsKeyID.description, Settings.apnsKeyFile.description,
                Settings.apnsApps.description,
            ],
            [Settings.smtpHost.description, Settings.smtpFrom.description],
            [Settings.smtpUsername.description, Settings.smtpPasswordFile.description],
            [Settings.smsTwilioAccount.description, Settings.smsTwilioTokenFile.description],
            [Settings.captchaProviders.description, Settings.captchaSecretsFile.description],
        ].map { $0.map(\.key) }
        faults += missing(in: sources)
        for group in together {
            guard let present = group.first(where: { sources[$0] != nil }), let source = sources[present] else {
                continue
            }
            for absent in group where sources[absent] == nil {
                faults.append(
                    ConfigurationFault(
                        place: source.place, key: absent, what: "\(present) is set, and \(absent) is not.",
                        cure: group.count == 2
                            ? "Set both, or neither." : "Set all of \(group.joined(separator: ", "))."))
            }
        }
        return faults
    }

    /// Settings that another setting needs but that are missing; settings needed in turn are not considered.
    private static func missing(in sources: [String: Source]) -> [ConfigurationFault] {
        let gateway = sources[Settings.smsTwilioAccount.description.key] == nil ? [Settings.smsBody.description] : []
        let certificates: [SettingDescription] =
            switch sources[Settings.certificateSource.description.key]?.values.first
                .flatMap({ CertificateSource(rawValue: $0) })
            {
            case .proxy, .unverified: [Settings.proxies.description]
            case .tls: [Settings.certificate.description]
            case .off, nil: []
            }
        let needs = [
            (Settings.certificateSource.description, certificates),
            (Settings.certificateURL.description, [Settings.certificateSource.description]),
            (Settings.smtpUsername.description, [Settings.smtpHost.description]),
            (Settings.smsTwilioAccount.description, [Settings.smsFrom.description]),
            (Settings.smsURL.description, [Settings.smsFrom.description] + gateway),
            (Settings.smsBody.description, [Settings.smsURL.description]),
            (
                Settings.smsFrom.description,
                sources[Settings.smsTwilioAccount.description.key] == nil ? [Settings.smsURL.description] : []
            ),
        ]
        return needs.flatMap { setting, needed in
            needed.map(\.key).filter { sources[$0] == nil }.compactMap { absent in
                sources[setting.key].map { source in
                    ConfigurationFault(
                        place: source.place, key: absent, what: "\(setting.key) is set, and \(absent) is not.",
                        cure: "Set \(absent), too.")
                }
            }
        }
    }
}

extension Substring {
    /// The text without surrounding blanks.
    fileprivate var trimmed: String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
