import CountersignWire
import Encodings

extension ClientChanges {
    /// Whether the changes set callback or notice URIs, so that receivers that were gone are called again.
    var setsReceivers: Bool {
        if case .set = notices { true } else { callbackURIs != nil }
    }

    /// The changes for the audit, without the password, and with only the hosts of URLs.
    var auditDetail: JSONObject {
        var detail = JSONObject()
        detail["name"] = name.map { .string($0.text) }
        detail["rights"] = rights.map { .array($0.map(\.rawValue).sorted().map(JSONValue.string)) }
        detail["callback_hosts"] = callbackURIs.map { .array($0.map { .string($0.host) }) }
        detail["return_hosts"] = returnURIs.map { .array($0.map { .string($0.place) }) }
        detail["waiver"] = waivesEnrollmentApproval.map(JSONValue.bool)
        detail["cooling_off"] = coolingOff.map { .integer($0.value) }
        detail["pin_policy"] = pinPolicy?.json
        detail["authenticators"] = authenticators.map { all in
            .array(all.map { ["name": .string("\($0.name)"), "host": .string($0.hook.host)] })
        }
        detail["vendors"] = vendors?.json
        if let limit = devices.replacement { detail["device_limit"] = limit?.json ?? .null }
        if let uri = notices.replacement { detail["notice_host"] = uri.map { .string($0.host) } ?? .null }
        if let credentials = basic.replacement {
            detail["callback_username"] = credentials.map { .string($0.username) } ?? .null
        }
        return detail
    }
}

extension Set<Vendor> {
    /// The vendors for the audit.
    var json: JSONValue { .array(map(\.rawValue).sorted().map(JSONValue.string)) }
}
