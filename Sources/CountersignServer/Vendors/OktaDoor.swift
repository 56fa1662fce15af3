import CountersignCore
import CountersignWire
import Encodings
import HTTPTypes
import Hummingbird

/// The calls of apps with Okta's device SDK (custom authenticators): discovery, enrollments, challenges and maintenance
/// tokens.
///
/// Each translates to an operation that knows no vendor. A client's app makes them if an operator has let it
/// (``Vendor/okta``). Spec: docs/decisions/0107-oktas-door.md.
final class OktaDoor: Door {
    let paths = [
        OktaDoor.organizationPath, OktaDoor.policyPath, JWTChallenge.path, OktaDoor.tokenPath,
    ]
    let resources: DoorResources

    private static let organizationPath = "/.well-known/okta-organization"
    private static let policyPath = "/.well-known/app-authenticator-configuration"
    static let tokenPath = "/oauth2/v1/token"

    var ports: Ports { resources.ports }

    init(_ resources: DoorResources) { self.resources = resources }

    func addRoutes(to table: inout RouteTable) {
        addDiscovery(to: &table)
        addDevices(to: &table)
        addChallenges(to: &table)
        addMaintenance(to: &table)
    }

    func refusal(of error: any Error, _ context: ServerContext) -> RenderedRefusal? {
        switch error {
        case let error as OktaError: error.rendered(context.requestID)
        case let error as OAuthError: Self.rendered(error)
        case let error as FormFields.Malformed: Self.rendered(OAuthError(.invalidRequest, error.description))
        default: nil
        }
    }

    func refusal(of failure: RequestFailure, _ context: ServerContext) -> RenderedRefusal {
        OktaError(failure, requestID: context.requestID).rendered(context.requestID)
    }

    /// Spec: RFC 6749 §5.2.
    private static func rendered(_ error: OAuthError) -> RenderedRefusal {
        var headers: HTTPFields = [.contentType: "application/json"]
        if error.code == .invalidClient { headers[.wwwAuthenticate] = "Basic realm=\"countersign\"" }
        if let seconds = error.retryAfter { headers[.retryAfter] = "\(seconds)" }
        return RenderedRefusal(
            status: error.status ?? error.code.status, headers: headers, body: error.json.encoded,
            code: error.code.rawValue, detail: error.description)
    }

    /// Whoever calls with an access token of an app that may make these calls.
    func owner(of incoming: Incoming) async throws -> DeviceOwner {
        guard let shown = shown(by: incoming) else { throw OktaError(.invalidToken) }
        let outcome = try await AuthenticateOwner.authenticate(
            shown.token, by: shown.key, making: .okta, ports: ports)
        switch outcome {
        case .owner(let owner):
            guard try ports.spend(shown.key) else { throw OktaError(.invalidToken) }
            return owner
        case .invalidToken: throw OktaError(.invalidToken)
        case .switchedOff: throw OktaError(.featureDisabled)
        }
    }

    /// The access token of a request; nil for none.
    func shown(by incoming: Incoming) -> ShownToken? { try? incoming.shownToken(ports: ports) }
}

/// What an app asks before it enrolls.
extension OktaDoor {
    private func addDiscovery(to table: inout RouteTable) {
        let organization: JSONValue = [
            "id": .string(ports.issuer.organizationID),
            "_links": ["organization": ["href": .string("\(ports.issuer)")]],
        ]
        table.add(.get, Self.organizationPath) { [self] request, context in
            _ = try await Incoming(request, context)
            let isOn = try await VendorSwitch.isOn(.okta, ports: ports)
            // check: OktaSwitchTests.off
            guard isOn else { throw OktaError(.resourceNotFound) }
            return Response(json: organization)
        }
        table.add(.get, Self.policyPath) { [self] request, context in
            let incoming = try await Incoming(request, context)
            let client = try await owner(of: incoming).client
            // check: OktaDiscoveryTests.policy
            guard incoming.query["oauthClientId"].map({ $0.hasSameBytes(as: "\(client.id)") }) ?? false else {
                throw OktaError.invalid("oauthClientId is not the client of the access token")
            }
            return Response(json: [policy(of: client)])
        }
    }

    /// What a client's app may enroll; every word that the SDK does not know would be an error to it.
    private func policy(of client: Client) -> JSONValue {
        [
            "authenticatorId": .string("\(client.id)"), "orgId": .string(ports.issuer.organizationID),
            "key": "custom_app", "name": .string(client.name.text), "created": .string("\(client.createdAt)"),
            "lastUpdated": .string("\(client.createdAt)"), "settings": ["userVerification": "PREFERRED"],
            "supportedMethods": [
                [
                    "type": "push", "status": "ACTIVE",
                    "settings": [
                        "keyProtection": "ANY", "algorithms": ["ES256", "RS256"],
                        "transactionTypes": ["LOGIN", "CIBA"],
                    ],
                ]
            ],
            "appAuthenticatorEnrollEndpoint": .string(ports.issuer.uri(JWTChallenge.path)),
        ]
    }
}

/// What the app does with devices.
extension OktaDoor {
    private func addDevices(to table: inout RouteTable) {
        let path = JWTChallenge.path
        table.add(.get, path) { [self] request, context in
            let owner = try await owner(of: try await Incoming(request, context))
            switch try await ListAppDevices.list(of: owner, ports: ports) {
            case .devices(let devices): return Response(json: .array(devices.map(json)))
            }
        }
        table.add(.post, path) { [self] request, context in try await enroll(try await Incoming(request, context)) }
        table.add(.patch, "\(path)/:device") { [self] request, context in
            try await update(try await Incoming(request, context))
        }
        table.add(.delete, "\(path)/:device") { [self] request, context in
            let incoming = try await Incoming(request, context)
            let owner = try await owner(of: incoming)
            switch try await RemoveAppDevice.remove(try device(incoming), by: owner, ports: ports) {
            case .removed: return Response(status: .noContent)
            case .goneBefore: throw OktaError(.enrollmentDeleted)
            case .notFound: throw OktaError(.resourceNotFound)
            case .scopeMissing: throw OktaError(.forbidden)
            }
        }
        table.add(.get, "\(path)/:device/push/notifications") { [self] request, context in
            let incoming = try await Incoming(request, context)
            let owner = try await owner(of: incoming)
            switch try await PendingJWTChallenges.list(of: try device(incoming), for: owner, ports: ports) {
            case .list(let tokens):
                return Response(
                    json: .array(
                        tokens.map {
                            ["payloadVersion": .string(JWTAnnouncement.version), "challenge": .string($0)]
                        }))
            case .refused(let refusal): throw OktaError(refusal)
            case .notFound: throw OktaError(.resourceNotFound)
            case .scopeMissing: throw OktaError(.forbidden)
            }
        }
    }

    /// The enrollment that the path names.
    func device(_ incoming: Incoming) throws(OktaError) -> EnrollmentID {
        guard let id = incoming.parameter("device").flatMap({ EnrollmentID($0) }) else {
            throw OktaError(.resourceNotFound)
        }
        return id
    }

    /// An enrollment as the SDK reads it; device, method and enrollment are one, and have one name.
    func json(_ enrollment: Enrollment) -> JSONValue {
        let id = JSONValue.string("\(enrollment.id)")
        let created = JSONValue.string("\(enrollment.createdAt)")
        let own = ports.issuer.uri("\(JWTChallenge.path)/\(enrollment.id)")
        let status: JSONValue = enrollment.state == .active ? "ACTIVE" : "SUSPENDED"
        let pending: JSONValue = ["href": .string("\(own)/push/notifications"), "hints": ["allow": ["GET"]]]
        let push: JSONValue = [
            "id": id, "createdDate": created, "lastUpdated": created, "links": ["pending": pending],
        ]
        return [
            "id": id, "authenticatorId": .string("\(enrollment.client)"), "createdDate": created,
            "lastUpdated": created,
            "device": [
                "id": id, "status": status, "clientInstanceId": id, "createdDate": created, "lastUpdated": created,
            ],
            "user": ["id": .string("\(enrollment.user)")], "methods": ["push": push],
            "links": ["self": ["href": .string(own)]],
        ]
    }
}

/// Answers.
extension OktaDoor {
    private func addChallenges(to table: inout RouteTable) {
        table.add(.post, JWTChallenge.answerPath(of: ":challenge")) { [self] request, context in
            try await answer(try await Incoming(request, context))
        }
    }

    /// The signature in the body is all that authenticates the call.
    private func answer(_ incoming: Incoming) async throws -> Response {
        let json = try incoming.vendorJSON()
        guard json["method"] == "push", let token = json["challengeResponse"]?.string else {
            throw OktaError.invalid("method must be push, and challengeResponse a JWT")
        }
        guard let id = incoming.parameter("challenge").flatMap({ ChallengeID($0) }) else {
            throw try await unsigned(incoming)
        }
        switch try await AnswerByJWT.answer(token, to: id, making: .okta, ports: ports) {
        // What the user has denied is decided as well.
        case .decided(let status) where status.state == "denied": return Response(status: .noContent)
        case .decided: return Response(json: ["status": "SUCCESS"])
        case .notSigned: throw try await unsigned(incoming)
        case .notFound, .invalid: throw OktaError.answerNotTaken
        case .refused(let refusal): throw OktaError(refusal)
        case .alreadyEnded: throw OktaError(.resourceNotFound, "the challenge is over")
        case .rateLimited(let seconds): throw OktaError(.tooManyRequests, retryAfter: seconds)
        }
    }

    /// Counts an answer that no device has signed, by the caller's network, with wrong secrets; a good signature counts
    /// nothing.
    private func unsigned(_ incoming: Incoming) async throws -> OktaError {
        guard case .tooManyFailures(let seconds) = try await resources.failed(from: incoming.context) else {
            return OktaError.answerNotTaken
        }
        return OktaError(.tooManyRequests, retryAfter: seconds)
    }
}

extension Incoming {
    /// The JSON in the body, whose type may be that of a merge patch.
    func vendorJSON() throws(OktaError) -> JSONValue {
        guard hasContent("application/json") || hasContent("application/merge-patch+json") else {
            throw OktaError(.malformedBody, "the body must be JSON")
        }
        guard let json = try? JSONValue(parsing: body), json.object != nil else { throw OktaError(.malformedBody) }
        return json
    }
}
