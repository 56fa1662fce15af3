public import Encodings

/// Methods that do not count yet, as a member `waiting`: an object that maps their names to the times from which they
/// count.
///
/// Spec: docs/protocol/methods.md, *The state*.
public enum WaitingMethods {
    /// The member; nil if nothing waits.
    public static func json(_ waiting: [(method: AnswerMethod, until: Timestamp)]) -> JSONValue? {
        var object = JSONObject()
        for (method, until) in waiting.sorted(by: { $0.method.rawValue < $1.method.rawValue }) {
            object[method.rawValue] = .string("\(until)")
        }
        return waiting.isEmpty ? nil : .object(object)
    }

    /// Reads the member; unknown names are ignored.
    public static func read(_ members: inout JSONMembers) throws(JSONShapeError) -> [AnswerMethod: Timestamp] {
        let object = try members.optional("waiting", "an object of times") { $0.object } ?? [:]
        var waiting: [AnswerMethod: Timestamp] = [:]
        for member in object.members {
            guard let method = AnswerMethod(rawValue: member.name) else { continue }
            guard let until = member.value.string.flatMap({ Timestamp($0) }) else {
                throw .invalid(pointer: "/waiting/\(member.name)", expected: "a time")
            }
            waiting[method] = until
        }
        return waiting
    }
}
