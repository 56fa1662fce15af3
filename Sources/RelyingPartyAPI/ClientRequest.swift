package import CountersignWire
package import Encodings

/// What an operator makes a client with: `ClientRequest` of the contract.
package struct ClientRequest: Sendable {
    /// What users know the client by.
    package let name: ClientName
    /// All that may be left out, and the name.
    package let settings: ClientChanges
    /// Whether it is a third party.
    package let isThirdParty: Bool

    /// The request as JSON.
    package var json: JSONValue { Self.json(settings.json, isThirdParty: isThirdParty) }

    /// A request as a caller writes it, which the server judges.
    ///
    /// - Parameters:
    ///   - settings: the settings, by the static `json` of ``ClientChanges``.
    ///   - isThirdParty: whether it is a third party.
    package static func json(_ settings: JSONValue, isThirdParty: Bool) -> JSONValue {
        var object = settings.object ?? [:]
        if isThirdParty { object["third_party"] = true }
        return .object(object)
    }

    /// Reads a request.
    ///
    /// - Throws: ``JSONShapeError``, or ``RefusedText`` for a name that may not be.
    package init(_ json: JSONValue, isDevelopment: Bool) throws {
        var members = try JSONMembers(json)
        settings = try ClientChanges(&members, of: json, isDevelopment: isDevelopment, needsName: true)
        isThirdParty = try members.optionalBool("third_party") ?? false
        try members.refuseUnknown()
        guard let name = settings.name else { throw JSONShapeError.missing(pointer: "/name") }
        self.name = name
    }
}

/// What an operator changes about a client, as JSON: `ClientUpdate` of the contract.
extension ClientChanges {
    /// The update as JSON.
    package var json: JSONValue {
        Self.json(
            name: name?.text, rights: rights?.map(\.rawValue).sorted(), callbackURIs: callbackURIs?.map(\.description),
            returnURIs: returnURIs?.map(\.description),
            noticeURI: notices.replacement.map { $0.map { .string($0.description) } ?? .null },
            basic: basic.replacement.map { $0?.json ?? .null }, waivesEnrollmentApproval: waivesEnrollmentApproval,
            coolingOff: coolingOff?.value, pinPolicy: pinPolicy?.json,
            deviceLimit: devices.replacement.map { $0?.json ?? .null },
            authenticators: authenticators?.map(\.json), vendors: vendors?.map(\.rawValue).sorted())
    }

    /// An update, or a request for a new client, as a caller writes it, which the server judges.
    package static func json(
        name: String?, rights: [String]?, callbackURIs: [String]?, returnURIs: [String]?, noticeURI: JSONValue?,
        basic: JSONValue?, waivesEnrollmentApproval: Bool?, coolingOff: Int64?, pinPolicy: JSONValue?,
        deviceLimit: JSONValue?, authenticators: [JSONValue]?, vendors: [String]?
    ) -> JSONValue {
        .members([
            "name": .text(name), "rights": rights.map(JSONValue.texts),
            "callback_uris": callbackURIs.map(JSONValue.texts), "return_uris": returnURIs.map(JSONValue.texts),
            "notice_uri": noticeURI, "callback_basic": basic,
            "waive_enrollment_approval": waivesEnrollmentApproval.map(JSONValue.bool),
            "enrollment_cooling_off": coolingOff.map(JSONValue.integer), "pin_policy": pinPolicy,
            "device_limit": deviceLimit, "authenticators": authenticators.map(JSONValue.array),
            "vendors": vendors.map(JSONValue.texts),
        ])
    }

    /// Reads an update.
    ///
    /// - Throws: ``JSONShapeError``, or ``RefusedText`` for a name that may not be.
    package init(_ json: JSONValue, isDevelopment: Bool) throws {
        var members = try JSONMembers(json)
        try self.init(&members, of: json, isDevelopment: isDevelopment, needsName: false)
        try members.refuseUnknown()
    }

    fileprivate init(
        _ members: inout JSONMembers, of json: JSONValue, isDevelopment: Bool, needsName: Bool
    ) throws {
        let name = try members.clientName()
        guard name != nil || !needsName else { throw JSONShapeError.missing(pointer: "/name") }
        self.init(name: name)
        rights = try members.optional("rights", "an array of \"challenges\", \"users\" and \"enrollments\"") {
            $0.each { Right(rawValue: $0) }.map { Set($0) }
        }
        callbackURIs = try members.callbackURIs(isDevelopment: isDevelopment)
        returnURIs = try members.returnURIs(isDevelopment: isDevelopment)
        notices = Change(
            try members.optional("notice_uri", JSONMembers.uri) {
                $0.string.flatMap { CallbackURI($0, isDevelopment: isDevelopment) }
            }, json["notice_uri"])
        basic = Change(
            try members.value("callback_basic").map { value throws(JSONShapeError) in
                try BasicCredentials(value, at: members.pointer(to: "callback_basic"))
            }, json["callback_basic"])
        waivesEnrollmentApproval = try members.optionalBool("waive_enrollment_approval")
        coolingOff = try members.optionalSeconds(
            "enrollment_cooling_off", in: Seconds.minutes(1)...Seconds.days(7))
        pinPolicy = try members.value("pin_policy").map { value throws(JSONShapeError) in
            try PINPolicy(value, at: members.pointer(to: "pin_policy"))
        }
        devices = Change(
            try members.value("device_limit").map { value throws(JSONShapeError) in
                try EnrollmentPolicies.DeviceLimit(value, at: members.pointer(to: "device_limit"))
            }, json["device_limit"])
        authenticators = try members.authenticators(isDevelopment: isDevelopment)
        vendors = try members.optional("vendors", Vendor.expected) {
            $0.each { Vendor(rawValue: $0) }.map { Set($0) }
        }
    }
}

extension ClientChanges.Change {
    /// What a member changes: null removes the value.
    fileprivate init(_ value: Value?, _ json: JSONValue?) {
        self = json == nil ? .unchanged : value.map { .set($0) } ?? .removed
    }
}

extension BasicCredentials {
    /// The credentials as JSON: `BasicCredentials` of the contract.
    package var json: JSONValue { Self.json(username: username, password: password) }

    /// Credentials as a caller writes them, which the server judges.
    package static func json(username: String, password: Secret<String>) -> JSONValue {
        ["username": .string(username), "password": .string(password.reveal())]
    }

    /// Reads credentials that stand at a JSON pointer.
    package init(_ json: JSONValue, at pointer: String = "") throws(JSONShapeError) {
        var members = try JSONMembers(json, at: pointer)
        let (username, password) = (try members.string("username"), try members.string("password"))
        try members.refuseUnknown()
        guard let credentials = BasicCredentials(username: username, password: Secret(password)) else {
            throw .invalid(
                pointer: pointer,
                expected: "a username without a colon and a password, each of 1 to \(BasicCredentials.maximumLength) "
                    + "bytes without control characters")
        }
        self = credentials
    }
}

/// The members that describe a client.
extension JSONMembers {
    fileprivate static let uri = "an https URL (http to loopback in development mode)"

    fileprivate mutating func clientName() throws -> ClientName? {
        try optionalString("name").map { text in
            try refusing(at: "/name") { () throws(TextRefusal) in
                let name = try ClientName(text)
                try DisplayLimits.check(name: text)
                return name
            }
        }
    }

    fileprivate mutating func callbackURIs(isDevelopment: Bool) throws(JSONShapeError) -> [CallbackURI]? {
        guard value("callback_uris") != nil else { return nil }
        return try array("callback_uris").map { element throws(JSONShapeError) in
            guard let uri = element.value.string.flatMap({ CallbackURI($0, isDevelopment: isDevelopment) }) else {
                throw JSONShapeError.invalid(pointer: element.pointer, expected: Self.uri)
            }
            return uri
        }
    }

    fileprivate mutating func returnURIs(isDevelopment: Bool) throws(JSONShapeError) -> [ReturnURI]? {
        guard value("return_uris") != nil else { return nil }
        let all = try array("return_uris").map { element throws(JSONShapeError) in
            guard let uri = element.value.string.flatMap({ ReturnURI($0, isDevelopment: isDevelopment) }) else {
                throw JSONShapeError.invalid(pointer: element.pointer, expected: ReturnURI.expected)
            }
            return uri
        }
        guard all.count <= ReturnURI.maximumCount else {
            throw .invalid(pointer: pointer(to: "return_uris"), expected: "at most \(ReturnURI.maximumCount) URLs")
        }
        return all
    }

    fileprivate mutating func authenticators(
        isDevelopment: Bool
    ) throws(JSONShapeError) -> [CustomAuthenticator]? {
        guard value("authenticators") != nil else { return nil }
        let all = try array("authenticators").map { element throws(JSONShapeError) in
            try CustomAuthenticator(element.value, at: element.pointer) {
                CallbackURI($0, isDevelopment: isDevelopment)
            }
        }
        guard all.count <= CustomAuthenticator.maximumCount, Set(all.map(\.name)).count == all.count else {
            throw .invalid(
                pointer: pointer(to: "authenticators"),
                expected: "at most \(CustomAuthenticator.maximumCount) authenticators, each name once")
        }
        return all
    }
}
