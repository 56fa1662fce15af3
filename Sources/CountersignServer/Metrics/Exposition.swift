/// A page in the text exposition format of Prometheus, version 0.0.4.
struct Exposition {
    static let mediaType = "text/plain; version=0.0.4; charset=utf-8"

    /// The type of a metric family.
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

    /// Adds a sample to the family.
    mutating func sample(_ labels: KeyValuePairs<String, String>, suffix: String = "", _ value: Double) {
        let list = labels.map { "\($0.key)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",")
        let number = value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
        text += "\(family)\(suffix)\(list.isEmpty ? "" : "{\(list)}") \(number)\n"
    }

    /// Adds a sample to the family.
    mutating func sample(_ labels: KeyValuePairs<String, String>, suffix: String = "", _ value: Int) {
        sample(labels, suffix: suffix, Double(value))
    }

    /// Adds the only sample of the family.
    mutating func sample(_ value: Double) { sample([:], value) }

    /// Adds the only sample of the family.
    mutating func sample(_ value: Int) { sample([:], Double(value)) }

    private static func escaped(_ value: String) -> String {
        value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }
}
