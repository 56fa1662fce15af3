public import Encodings

/// The policies that an app needs for its prompts, as set by the client through which the device enrolled.
public struct EnrollmentPolicies: Hashable, Sendable {
    /// How many devices a user may have.
    public struct DeviceLimit: Hashable, Sendable {
        /// The greatest number of devices.
        public let maximum: Int
        /// Whether a further device replaces the oldest one; otherwise it is refused.
        public let replacesOldest: Bool

        /// A limit of these parts.
        public init(maximum: Int, replacesOldest: Bool) {
            self.maximum = maximum
            self.replacesOldest = replacesOldest
        }

        /// The limit as JSON.
        package var json: JSONValue {
            ["max": .integer(Int64(maximum)), "at_limit": replacesOldest ? "replace" : "refuse"]
        }
    }

    /// The rules for PINs: their lengths, how many wrong ones may be typed, and what happens then.
    public let pin: PINPolicy
    /// The limit on the user's devices through the client; nil for no limit.
    public let devices: DeviceLimit?
    /// The custom authenticators that the client judges, in order.
    public let authenticators: [AuthenticatorName]

    /// Policies of these parts.
    public init(pin: PINPolicy, devices: DeviceLimit?, authenticators: [AuthenticatorName]) {
        self.pin = pin
        self.devices = devices
        self.authenticators = authenticators
    }

    /// The policies as JSON; the number that a user types always has the same length.
    public var json: JSONValue {
        .members([
            "number_length": .integer(Int64(EntryNumber.length)), "pin": pin.json,
            "device_limit": devices?.json,
            "authenticators": .array(authenticators.map { .string("\($0)") }),
        ])
    }

    /// Reads policies at a JSON pointer; unknown members and authenticators of an unknown form are ignored, and members
    /// that an older server leaves out get their defaults.
    public init(_ json: JSONValue, at pointer: String) throws(JSONShapeError) {
        var members = try JSONMembers(json, at: pointer)
        if let value = members.value("pin") {
            pin = try PINPolicy(value, at: members.pointer(to: "pin"), ignoringUnknown: true)
        } else {
            pin = .standard
        }
        devices = try members.value("device_limit").map { value throws(JSONShapeError) in
            var limit = try JSONMembers(value, at: members.pointer(to: "device_limit"))
            return DeviceLimit(
                maximum: try limit.required("max", "a number from 1 to 100") { value in
                    value.integer.flatMap { (1...100).contains($0) ? Int($0) : nil }
                },
                replacesOldest: try limit.required("at_limit", "\"refuse\" or \"replace\"") {
                    ["replace": true, "refuse": false][$0.string ?? ""]
                })
        }
        authenticators =
            try members.optional("authenticators", "an array of names") { value in
                value.array?.compactMap { $0.string.flatMap { AuthenticatorName($0) } }
            } ?? []
    }
}
