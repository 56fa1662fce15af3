import Encodings

/// One fault in the operator's settings: the place, the problem and the cure.
struct ConfigurationFault: Hashable, Sendable {
    /// The place of the fault: a file and line, a variable, a flag.
    let place: String
    /// The setting, if it is known.
    let key: String?
    /// What is wrong.
    let what: String
    /// What to do.
    let cure: String

    var json: JSONValue {
        .members([
            "place": .string(place), "key": key.map(JSONValue.string), "what": .string(what), "cure": .string(cure),
        ])
    }
}

extension ConfigurationFault: CustomStringConvertible {
    var description: String { "\(place): \(what) \(cure)" }
}

/// All faults together.
struct ConfigurationFaults: Error, CustomStringConvertible {
    let faults: [ConfigurationFault]

    var description: String { faults.map(\.description).joined(separator: "\n") }
}
