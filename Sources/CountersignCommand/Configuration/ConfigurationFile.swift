import Foundation
import Yams

/// The content of a settings file: the values with their lines, and the faults.
struct ConfigurationFile {
    /// A setting's values and their place.
    struct Entry {
        let values: [String]
        let place: String
    }

    private(set) var entries: [String: Entry] = [:]
    private(set) var faults: [ConfigurationFault] = []
    private let name: String

    /// Reads a file.
    ///
    /// Unknown or malformed entries are faults. Everything else is still read, so that all faults are reported at once.
    init(path: String) {
        name = path
        guard let data = FileManager.default.contents(atPath: path), let text = String(data: data, encoding: .utf8)
        else {
            add(1, key: nil, "The file cannot be read.", "It must be there, and be UTF-8 that the server may read.")
            return
        }
        do {
            guard let root = try Yams.compose(yaml: text) else { return }
            guard case .mapping(let mapping) = root else {
                add(line(of: root), key: nil, "The file does not hold settings.", "Write lines such as `port: 8080`.")
                return
            }
            read(mapping, under: "")
        } catch let error as YamlError {
            addSyntax(error)
        } catch {
            add(1, key: nil, "The file is not YAML.", "Write lines such as `port: 8080`.")
        }
    }

    private mutating func read(_ mapping: Node.Mapping, under prefix: String) {
        for (name, value) in mapping {
            guard let text = name.scalar?.string else {
                add(line(of: name), key: nil, "A name of a setting is a word.", "Write lines such as `port: 8080`.")
                continue
            }
            let key = prefix + text
            if let setting = Settings.all.map(\.description).first(where: { $0.key == key }) {
                read(value, of: setting, line: line(of: name))
            } else if Self.isGroup(key) {
                if case .mapping(let inner) = value {
                    read(inner, under: key + ".")
                } else {
                    let members = Settings.all.map(\.description.key).filter { $0.hasPrefix(key + ".") }
                    add(
                        line(of: name), key: key, "\(key) is no setting but holds some.",
                        "Indent them below it: \(members.joined(separator: ", ")).")
                }
            } else {
                add(line(of: name), key: key, "There is no setting \(key).", Self.suggestion(for: key))
            }
        }
    }

    private mutating func read(_ value: Node, of setting: SettingDescription, line: Int) {
        let key = setting.key
        let place = "\(name):\(line)"
        switch value {
        case .scalar(let scalar) where !Self.isNothing(value, scalar):
            entries[key] = Entry(values: [scalar.string], place: place)
        case .sequence(let sequence)
        where setting.isList && sequence.allSatisfy({ $0.scalar.map { !$0.string.isEmpty } ?? false }):
            entries[key] = Entry(values: sequence.compactMap { $0.scalar?.string }, place: place)
        case .scalar:
            add(line, key: key, "\(key) has no value.", "Give it one, or leave the line out.")
        case .sequence, .mapping, .alias:
            add(line, key: key, "\(key) must be \(setting.form).", "Write it behind the colon.")
        }
    }

    /// Whether a node has no value, as in `port:` or `port: ~`.
    private static func isNothing(_ node: Node, _ scalar: Node.Scalar) -> Bool {
        scalar.style == .plain && ["", "~", "null", "Null", "NULL"].contains(scalar.string)
    }

    private static func isGroup(_ key: String) -> Bool {
        Settings.all.contains { $0.description.key.hasPrefix(key + ".") }
    }

    /// The cure for an unknown key.
    static func suggestion(for key: String) -> String {
        guard let near = NearName.of(key, among: Settings.all.map(\.description.key)) else {
            return "Remove it; docs/reference/configuration.md lists all."
        }
        return "Did you mean \(near)?"
    }

    private func line(of node: Node) -> Int { node.mark?.line ?? 1 }

    private mutating func add(_ line: Int, key: String?, _ what: String, _ cure: String) {
        faults.append(ConfigurationFault(place: "\(name):\(line)", key: key, what: what, cure: cure))
    }

    private mutating func addSyntax(_ error: YamlError) {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            add(mark.line, key: nil, "The file is not YAML: \(problem).", "Mend this line or the one before.")
        case .duplicatedKeysInMapping(let duplicates, let context):
            add(
                context.mark.line, key: duplicates.first, "\(duplicates.joined(separator: ", ")) stands there twice.",
                "Keep one.")
        default:
            add(1, key: nil, "The file is not YAML.", "Write lines such as `port: 8080`.")
        }
    }
}
