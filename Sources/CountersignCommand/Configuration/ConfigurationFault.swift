import Encodings

/// One thing that is wrong with what an operator set: where, what, and what to do.
struct ConfigurationFault: Hashable, Sendable {
    /// Where it stands: a file and line, a variable, a flag.
    let place: String
    /// The setting, as far as it can be told.
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

/// All that is wrong, at once.
struct ConfigurationFaults: Error, CustomStringConvertible {
    let faults: [ConfigurationFault]

    var description: String { faults.map(\.description).joined(separator: "\n") }
}
