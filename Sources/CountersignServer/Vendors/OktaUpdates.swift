import CountersignCore
import CountersignWire
import Encodings
import HTTPTypes
import Hummingbird

/// Changes of an enrollment, each a merge patch.
///
/// Spec: RFC 7396 §2.
extension OktaDoor {
    /// Changes what the patch names; whether the device takes CIBA is nothing that we keep.
    func update(_ incoming: Incoming) async throws -> Response {
        let owner = try await owner(of: incoming)
        let id = try device(incoming)
        guard let push = try incoming.vendorJSON()["methods"]?["push"], push.object != nil else {
            throw OktaError.invalid("methods.push is missing")
        }
        // A biometric needs more than a token for pushes, so that it is refused before anything is changed.
        if let key = push["keys"]?["userVerification"] { try await set(key, of: id, by: owner, incoming) }
        if let token = push["pushToken"] { try await register(token, of: id, by: owner) }
        switch try await ListAppDevices.list(of: owner, ports: ports) {
        case .devices(let devices):
            guard let device = devices.first(where: { $0.id == id }) else { throw OktaError(.resourceNotFound) }
            return Response(json: json(device))
        }
    }

    private func set(
        _ key: JSONValue, of id: EnrollmentID, by owner: DeviceOwner, _ incoming: Incoming
    ) async throws {
        guard key != .null else {
            return try changed(await ChangeAppBiometric.remove(of: id, by: owner, ports: ports))
        }
        // The SDK sends a key again that it has.
        guard try await !ChangeAppBiometric.isSet(key, of: id, by: owner, ports: ports) else { return }
        let ticket = try await ticket(for: incoming)
        try changed(await ChangeAppBiometric.set(key, with: ticket, of: id, by: owner, ports: ports))
    }

    private func changed(_ outcome: ChangeAppBiometric.Outcome) throws(OktaError) {
        switch outcome {
        case .changed: return
        case .refused(let refusal): throw OktaError(refusal)
        case .notFound: throw OktaError(.resourceNotFound)
        case .scopeMissing, .notAuthorized: throw OktaError(.forbidden)
        case .keyInvalid(let refusal): throw OktaError(refusal)
        case .alreadyEnrolled: throw OktaError.invalid("the key was enrolled before: make a new one")
        }
    }

    private func register(_ token: JSONValue, of id: EnrollmentID, by owner: DeviceOwner) async throws {
        guard let text = token == .null ? "" : token.string else { throw OktaError.invalid("pushToken is no text") }
        let secret = text.isEmpty ? nil : Secret(text)
        switch try await RegisterAppPush.register(secret, of: id, by: owner, ports: ports) {
        case .registered: return
        case .refused(let refusal): throw OktaError(refusal)
        case .notFound: throw OktaError(.resourceNotFound)
        case .scopeMissing: throw OktaError(.forbidden)
        case .tokenInvalid: throw OktaError.invalid("pushToken is not valid, or the app's identifier is not known")
        case .pushTokenInUse: throw OktaError.invalid("another enrollment of the user has this pushToken")
        }
    }
}

/// Tokens by which a device manages its own enrollment.
extension OktaDoor {
    func addMaintenance(to table: inout RouteTable) {
        table.add(.post, Self.tokenPath) { [self] request, context in
            let incoming = try await Incoming(request, context)
            let form = try FormFields(form: incoming)
            let client = try await resources.caller(of: incoming, form).client
            // check: OktaSwitchTests.off
            guard client.vendors.contains(.okta) else {
                throw OAuthError(.unauthorizedClient, "the client may not make these calls")
            }
            // Every other grant is at the token endpoint that the metadata name.
            guard form["grant_type"] == DeviceAssertion.grantType else {
                throw OAuthError(.unsupportedGrantType, "only a device's assertion is taken here")
            }
            guard let assertion = form["assertion"] else {
                throw OAuthError(.invalidRequest, "assertion is missing")
            }
            return try await token(for: Secret(assertion), form.words("scope") ?? [], to: client.id, incoming)
        }
    }

    private func token(
        for assertion: Secret<String>, _ scopes: [String], to client: ClientID, _ incoming: Incoming
    ) async throws -> Response {
        let outcome = try await GiveMaintenanceToken.give(
            by: assertion, scopes: scopes, to: client, making: .okta, ports: ports)
        switch outcome {
        case .given(let given):
            return Response(json: .object(try await SignTokens.sign(given, ports: ports).members))
        case .invalid: throw try await invalidAssertion(incoming)
        case .scopeMissing: throw OAuthError(.invalidScope, "a device gets scopes of maintenance alone")
        case .unproved(let refusal): throw OAuthError(refusal, ports: ports)
        case .tooMany(let seconds):
            throw OAuthError(
                .temporarilyUnavailable, "too many tokens of the device", status: 429, retryAfter: seconds.value)
        case .clientGone: throw OAuthError(.unauthorizedClient, "the client does not use the provider")
        }
    }

    /// Counts an assertion that is not good by the caller's network, as an answer that nobody has signed.
    ///
    /// One description for all: it must not tell whether there is such a device.
    private func invalidAssertion(_ incoming: Incoming) async throws -> OAuthError {
        guard case .tooManyFailures(let seconds) = try await resources.failed(from: incoming.context) else {
            return OAuthError(.invalidGrant, "the assertion is not good, or came before")
        }
        return OAuthError(
            .temporarilyUnavailable, "too many wrong assertions", status: 429, retryAfter: seconds.value)
    }
}
