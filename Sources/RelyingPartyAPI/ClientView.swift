package import CountersignWire
package import Encodings

/// A client as operators see it: `Client` of the contract.
package struct ClientView: Sendable {
    /// The client.
    package var id: ClientID
    /// What users know it by.
    package var name: String
    /// What it may do.
    package var rights: [String]
    /// Where it may be called back.
    package var callbackURIs: [String]
    /// Where it is not called back any more, because the receiver said that it is gone.
    package var goneURIs: [String]
    /// Where devices may return to.
    package var returnURIs: [String]
    /// Where it is told of its users' devices; nil for nowhere.
    package var noticeURI: String?
    /// The name that its receiver asks for, besides the signature.
    package var callbackUsername: String?
    /// Whether its tickets enroll a further device without the approval of an earlier one.
    package var waivesEnrollmentApproval: Bool
    /// How long a further device waits that no earlier one approves.
    package var coolingOff: Seconds
    /// The rules for the PINs of its devices.
    package var pinPolicy: PINPolicy
    /// How many devices of a user may be enrolled through it; nil for as many as there are.
    package var deviceLimit: EnrollmentPolicies.DeviceLimit?
    /// What it judges itself.
    package var authenticators: [CustomAuthenticator]
    /// Whose calls it may make besides ours.
    package var vendors: [String]
    /// Whether it is the built-in client of the operator.
    package var isOperator: Bool
    /// Whether it is a third party, whose word counts for it alone.
    package var isThirdParty: Bool
    /// Since when it is let in nowhere; nil for one that is.
    package var disabledAt: Timestamp?
    /// When it was made.
    package var createdAt: Timestamp

    /// A view of these parts.
    package init(
        id: ClientID, name: String, rights: [String], callbackURIs: [String], goneURIs: [String], returnURIs: [String],
        noticeURI: String?, callbackUsername: String?, waivesEnrollmentApproval: Bool, coolingOff: Seconds,
        pinPolicy: PINPolicy, deviceLimit: EnrollmentPolicies.DeviceLimit?, authenticators: [CustomAuthenticator],
        vendors: [String] = [], isOperator: Bool, isThirdParty: Bool, disabledAt: Timestamp?, createdAt: Timestamp
    ) {
        self.id = id
        self.name = name
        self.rights = rights
        self.callbackURIs = callbackURIs
        self.goneURIs = goneURIs
        self.returnURIs = returnURIs
        self.noticeURI = noticeURI
        self.callbackUsername = callbackUsername
        self.waivesEnrollmentApproval = waivesEnrollmentApproval
        self.coolingOff = coolingOff
        self.pinPolicy = pinPolicy
        self.deviceLimit = deviceLimit
        self.authenticators = authenticators
        self.vendors = vendors
        self.isOperator = isOperator
        self.isThirdParty = isThirdParty
        self.disabledAt = disabledAt
        self.createdAt = createdAt
    }

    /// The view as JSON.
    package var json: JSONValue {
        .members([
            "client_id": .text(id), "name": .string(name), "rights": .texts(rights),
            "callback_uris": .texts(callbackURIs), "gone_callback_uris": .texts(goneURIs),
            "return_uris": .texts(returnURIs), "notice_uri": .text(noticeURI),
            "callback_username": .text(callbackUsername),
            "waive_enrollment_approval": .bool(waivesEnrollmentApproval),
            "enrollment_cooling_off": .integer(coolingOff.value), "pin_policy": pinPolicy.json,
            "device_limit": deviceLimit?.json, "authenticators": .array(authenticators.map(\.json)),
            "vendors": vendors.isEmpty ? nil : .texts(vendors), "is_operator": .bool(isOperator),
            "third_party": .bool(isThirdParty),
            "disabled_at": .text(disabledAt), "created_at": .text(createdAt),
        ])
    }

    /// Reads a view; members nobody knows are ignored.
    package init(_ json: JSONValue, at pointer: String = "") throws(JSONShapeError) {
        var members = try JSONMembers(json, at: pointer)
        id = try members.id("client_id")
        name = try members.string("name")
        rights = try members.requiredStrings("rights")
        callbackURIs = try members.requiredStrings("callback_uris")
        goneURIs = try members.requiredStrings("gone_callback_uris")
        returnURIs = try members.requiredStrings("return_uris")
        noticeURI = try members.optionalString("notice_uri")
        callbackUsername = try members.optionalString("callback_username")
        waivesEnrollmentApproval = try members.bool("waive_enrollment_approval")
        coolingOff = Seconds(try members.integer("enrollment_cooling_off", in: 0...Int64.max))
        pinPolicy = try PINPolicy(
            try members.required("pin_policy", "an object") { $0 }, at: members.pointer(to: "pin_policy"),
            ignoringUnknown: true)
        deviceLimit = try members.value("device_limit").map { value throws(JSONShapeError) in
            try EnrollmentPolicies.DeviceLimit(value, at: members.pointer(to: "device_limit"))
        }
        _ = try members.required("authenticators", "an array") { $0.array }
        authenticators = try members.array("authenticators").map { element throws(JSONShapeError) in
            try CustomAuthenticator(element.value, at: element.pointer) { CallbackURI(named: $0) }
        }
        vendors = try members.optional("vendors", "an array of strings") { value in value.each { $0 } } ?? []
        isOperator = try members.bool("is_operator")
        isThirdParty = try members.bool("third_party")
        disabledAt = try members.optionalTime("disabled_at")
        createdAt = try members.time("created_at")
    }
}

/// The secrets that sign requests to a client, one for each purpose; shown once.
package struct CallbackSecretsView: Sendable {
    /// What signs callbacks.
    package var callback: Secret<String>
    /// What signs notices.
    package var notice: Secret<String>
    /// What signs calls of hooks.
    package var hook: Secret<String>

    /// The secrets of these purposes.
    package init(callback: Secret<String>, notice: Secret<String>, hook: Secret<String>) {
        self.callback = callback
        self.notice = notice
        self.hook = hook
    }

    fileprivate func add(to object: inout JSONObject) {
        object["callback_secret"] = .string(callback.reveal())
        object["notice_secret"] = .string(notice.reveal())
        object["hook_secret"] = .string(hook.reveal())
    }

    fileprivate init(_ members: inout JSONMembers) throws(JSONShapeError) {
        callback = Secret(try members.string("callback_secret"))
        notice = Secret(try members.string("notice_secret"))
        hook = Secret(try members.string("hook_secret"))
    }
}

/// A new client with its secrets: `CreatedClient` of the contract.
package struct CreatedClientView: Sendable {
    /// The client.
    package var client: ClientView
    /// Its secret.
    package var secret: Secret<String>
    /// What signs requests to it.
    package var callbackSecrets: CallbackSecretsView

    /// A view of these parts.
    package init(client: ClientView, secret: Secret<String>, callbackSecrets: CallbackSecretsView) {
        self.client = client
        self.secret = secret
        self.callbackSecrets = callbackSecrets
    }

    /// The view as JSON.
    package var json: JSONValue {
        var object = client.json.object ?? [:]
        object["client_secret"] = .string(secret.reveal())
        callbackSecrets.add(to: &object)
        return .object(object)
    }

    /// Reads a view; members nobody knows are ignored.
    package init(_ json: JSONValue) throws(JSONShapeError) {
        client = try ClientView(json)
        var members = try JSONMembers(json)
        secret = Secret(try members.string("client_secret"))
        callbackSecrets = try CallbackSecretsView(&members)
    }
}

/// A new secret of a client: `ClientSecret` of the contract.
package struct ClientSecretView: Sendable {
    /// The client.
    package var client: ClientID
    /// The secret.
    package var secret: Secret<String>
    /// Until when the earlier one works beside it.
    package var earlierUntil: Timestamp

    /// A view of these parts.
    package init(client: ClientID, secret: Secret<String>, earlierUntil: Timestamp) {
        self.client = client
        self.secret = secret
        self.earlierUntil = earlierUntil
    }

    /// The view as JSON.
    package var json: JSONValue {
        [
            "client_id": .string("\(client)"), "client_secret": .string(secret.reveal()),
            "earlier_until": .string("\(earlierUntil)"),
        ]
    }

    /// Reads a view; members nobody knows are ignored.
    package init(_ json: JSONValue) throws(JSONShapeError) {
        var members = try JSONMembers(json)
        client = try members.id("client_id")
        secret = Secret(try members.string("client_secret"))
        earlierUntil = try members.time("earlier_until")
    }
}

/// New secrets that sign requests to a client: `CallbackSecret` of the contract.
package struct CallbackSecretView: Sendable {
    /// The secrets.
    package var secrets: CallbackSecretsView
    /// Until when the earlier ones sign beside them.
    package var earlierUntil: Timestamp

    /// A view of these parts.
    package init(secrets: CallbackSecretsView, earlierUntil: Timestamp) {
        self.secrets = secrets
        self.earlierUntil = earlierUntil
    }

    /// The view as JSON.
    package var json: JSONValue {
        var object = JSONObject()
        secrets.add(to: &object)
        object["earlier_until"] = .string("\(earlierUntil)")
        return .object(object)
    }

    /// Reads a view; members nobody knows are ignored.
    package init(_ json: JSONValue) throws(JSONShapeError) {
        var members = try JSONMembers(json)
        secrets = try CallbackSecretsView(&members)
        earlierUntil = try members.time("earlier_until")
    }
}
