import Encodings

extension JSONValue {
    /// The value with one member changed, or removed, somewhere inside it.
    func setting(_ path: [String], _ value: JSONValue?) -> JSONValue {
        guard let name = path.first, var object else { return self }
        object[name] = path.count == 1 ? value : object[name]?.setting(Array(path.dropFirst()), value)
        return .object(object)
    }
}
