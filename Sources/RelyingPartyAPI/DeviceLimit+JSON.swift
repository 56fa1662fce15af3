package import CountersignWire
package import Encodings

extension EnrollmentPolicies.DeviceLimit {
    /// Reads a limit that stands at a JSON pointer: `DeviceLimitRequest` of the contract.
    package init(_ json: JSONValue, at pointer: String = "") throws(JSONShapeError) {
        var members = try JSONMembers(json, at: pointer)
        self.init(
            maximum: Int(try members.integer("max", in: 1...100)),
            replacesOldest: try members.optional("at_limit", "\"refuse\" or \"replace\"") { value in
                ["replace": true, "refuse": false][value.string ?? ""]
            } ?? false)
        try members.refuseUnknown()
    }
}
