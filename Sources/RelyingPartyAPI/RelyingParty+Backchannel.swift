import CountersignWire
import Encodings

extension RelyingParty.Backchannel {
    var json: JSONValue {
        .members([
            "backchannel_token_delivery_mode": .string(delivery.name),
            "backchannel_client_notification_endpoint": delivery.receiver.map { .string($0.description) },
            "backchannel_number_entry": showsNumber ? true : nil,
            "backchannel_type": type.map { .string("\($0)") },
            "backchannel_authentication_request_signing_alg": algorithm.map { .string($0.rawValue) },
            "backchannel_user_code_parameter": bringsUserCode ? true : nil,
        ])
    }
}

extension JSONMembers {
    /// How a client's server has people's devices asked; nil without a mode.
    ///
    /// Spec: CIBA Core 1.0 §4.
    mutating func backchannel(
        of profile: RelyingParty.Profile, by ways: Set<SignInWay>, hasKeys: Bool, signsAlways: Bool,
        isDevelopment: Bool
    ) throws(JSONShapeError) -> RelyingParty.Backchannel? {
        let mode = try optional("backchannel_token_delivery_mode", "\"poll\", \"ping\" or \"push\"") {
            $0.string.flatMap { ["poll", "ping", "push"].contains($0) ? $0 : nil }
        }
        let uri = try optional(
            "backchannel_client_notification_endpoint", "an https URL (http to loopback in development mode)"
        ) {
            $0.string.flatMap { CallbackURI($0, isDevelopment: isDevelopment) }
        }
        let algorithms = RelyingParty.RequestAlgorithm.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
        let algorithm = try optional("backchannel_authentication_request_signing_alg", "one of \(algorithms)") {
            $0.string.flatMap { RelyingParty.RequestAlgorithm(rawValue: $0) }
        }
        let type = try optional("backchannel_type", "the name of a challenge type") {
            $0.string.flatMap { TypeName($0) }
        }
        let showsNumber = try optionalBool("backchannel_number_entry") ?? false
        let bringsUserCode = try optionalBool("backchannel_user_code_parameter") ?? false
        guard let mode else {
            let others = [
                ("backchannel_client_notification_endpoint", uri != nil),
                ("backchannel_authentication_request_signing_alg", algorithm != nil), ("backchannel_type", type != nil),
                ("backchannel_number_entry", showsNumber), ("backchannel_user_code_parameter", bringsUserCode),
            ]
            if let other = others.first(where: { $0.1 }) {
                throw .invalid(
                    pointer: pointer(to: other.0), expected: "nothing without \"backchannel_token_delivery_mode\"")
            }
            return nil
        }
        // check: BackchannelEndpointTests.settings
        guard profile.isConfidential, ways.contains(.device) else {
            throw .invalid(
                pointer: pointer(to: "backchannel_token_delivery_mode"),
                expected: "nothing for a client that keeps no secret, or where \"ways\" lacks \"device\"")
        }
        // check: BackchannelEndpointTests.settings
        guard (uri == nil) == (mode == "poll") else {
            throw .invalid(
                pointer: pointer(to: "backchannel_client_notification_endpoint"),
                expected: "a URL with the modes \"ping\" and \"push\", and nothing with \"poll\"")
        }
        // check: BackchannelEndpointTests.settings
        guard (type == nil) == showsNumber else {
            throw .invalid(
                pointer: pointer(to: "backchannel_type"),
                expected: "the name of a type without a number, or \"backchannel_number_entry\" in its place")
        }
        // check: BackchannelEndpointTests.settings
        guard algorithm == nil ? !signsAlways : hasKeys else {
            throw .invalid(
                pointer: pointer(to: "backchannel_authentication_request_signing_alg"),
                expected: "nothing without keys, and an algorithm with \"require_signed_request_object\"")
        }
        // Spec: FAPI-CIBA §5.2.2.
        // check: StrictProfileTests.settings
        guard profile != .strict || algorithm != nil && algorithm != .rs256 && mode != "push" else {
            throw .invalid(
                pointer: pointer(to: "backchannel_token_delivery_mode"),
                expected: "\"poll\" or \"ping\", with an algorithm of signed requests but RS256, for a strict client")
        }
        let delivery: RelyingParty.Backchannel.Delivery
        if let uri {
            delivery = mode == "push" ? .push(uri) : .ping(uri)
        } else {
            delivery = .poll
        }
        return RelyingParty.Backchannel(
            delivery: delivery, type: type, algorithm: algorithm, bringsUserCode: bringsUserCode)
    }
}
