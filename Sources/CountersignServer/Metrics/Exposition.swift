/// The text that Prometheus reads: its text exposition format, version 0.0.4.
struct Exposition {
    /// The media type.
    static let mediaType = "text/plain; version=0.0.4; charset=utf-8"

    /// What kind of numbers a family holds.
    enum Kind: String {
        case counter
        case gauge
        case histogram
    }

    private(set) var text = ""
    private var family = ""

    /// Begins a family; its samples follow.
    mutating func family(_ name: String, _ kind: Kind, _ help: String) {
        family = name
        let help = help.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
    }

    /// A sample of the family.
    mutating func sample(_ labels: KeyValuePairs<String, String>, suffix: String = "", _ value: Double) {
        let list = labels.map { "\($0.key)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",")
        let number = value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
        text += "\(family)\(suffix)\(list.isEmpty ? "" : "{\(list)}") \(number)\n"
    }

    /// A sample of the family.
    mutating func sample(_ labels: KeyValuePairs<String, String>, suffix: String = "", _ value: Int) {
        sample(labels, suffix: suffix, Double(value))
    }

    /// The family's one sample.
    mutating func sample(_ value: Double) { sample([:], value) }

    /// The family's one sample.
    mutating func sample(_ value: Int) { sample([:], Double(value)) }

    private static func escaped(_ value: String) -> String {
        value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }
}
