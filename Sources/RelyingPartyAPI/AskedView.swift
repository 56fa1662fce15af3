package import CountersignWire
package import Encodings

/// The reply to asking, and the one time the number is told: `AskedChallenge` of the contract.
package struct AskedView: Sendable {
    /// The challenge.
    package var challenge: ChallengeView
    /// What the user must type on the device; nil for nothing.
    package var number: EntryNumber?
    /// What a device claims it by; nil where a user was named.
    package var code: CodeView?
    /// The devices that can answer.
    package var enrollments: [EnrollmentID]

    /// A view of these parts.
    package init(challenge: ChallengeView, number: EntryNumber?, code: CodeView?, enrollments: [EnrollmentID]) {
        self.challenge = challenge
        self.number = number
        self.code = code
        self.enrollments = enrollments
    }

    /// The view as JSON.
    package var json: JSONValue {
        var object = challenge.json.object ?? [:]
        object["number"] = .text(number?.digits)
        object["code"] = code?.json
        object["enrollments"] = .texts(enrollments)
        return .object(object)
    }

    /// Reads a view; members nobody knows are ignored.
    package init(_ json: JSONValue) throws(JSONShapeError) {
        challenge = try ChallengeView(json)
        var members = try JSONMembers(json)
        number = try members.optional("number", "\(EntryNumber.length) digits") {
            $0.string.flatMap { EntryNumber($0) }
        }
        code = try members.value("code").map { value throws(JSONShapeError) in
            try CodeView(value, at: members.pointer(to: "code"))
        }
        enrollments = try members.required("enrollments", "an array of enrollment ids") {
            $0.each { EnrollmentID($0) }
        }
    }
}
