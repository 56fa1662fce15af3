import CountersignCore
import CountersignWire
import Encodings
import Hummingbird

/// What an app with Okta's device SDK enrolls.
///
/// Members that nothing here has a use for are ignored, unknown ones as well.
struct OktaEnrollment {
    /// The longest label of a device, as at the native API.
    private static let longestLabel = 100

    /// The device's keys.
    let keys: DeviceJWKs
    /// The device's description of itself.
    let device: DeviceDescription
    /// Its registration for pushes; nil for none.
    let push: PushRegistration?

    /// Reads a request.
    ///
    /// - Parameters:
    ///   - json: the body.
    ///   - owner: who enrolls.
    init(_ json: JSONValue, by owner: DeviceOwner) throws(OktaError) {
        // check: OktaEnrollmentTests.refusals
        guard json["authenticatorId"] == .string("\(owner.client.id)") else {
            throw OktaError.invalid("authenticatorId is not that of the client's app")
        }
        guard let device = json["device"], let push = json["methods"]?["push"],
            let possession = push["keys"]?["proofOfPossession"]
        else { throw OktaError.invalid("device or methods.push is missing") }
        // Of a device nothing is kept besides its enrollment, so that each enrolls as a new one. The SDK then does.
        guard device["clientInstanceKey"] != nil else { throw OktaError(.deviceDeleted) }
        keys = try Self.keys(possession, push["keys"]?["userVerification"])
        self.device = DeviceDescription(
            labels: Self.labels(device), storage: possession["okta:kpr"] == "HARDWARE" ? .enclave : .software)
        self.push = try Self.push(push, of: device)
    }

    private static func keys(_ possession: JSONValue, _ verification: JSONValue?) throws(OktaError) -> DeviceJWKs {
        do throws(DeviceJWKRefusal) {
            return try DeviceJWKs(
                proofOfPossession: possession, userVerification: verification == .null ? nil : verification)
        } catch {
            throw OktaError(error)
        }
    }

    /// What the user's devices are told apart by; what cannot be shown is left out.
    private static func labels(_ device: JSONValue) -> DeviceLabels {
        func line(_ words: String?...) -> DisplayLine? {
            let text = words.compactMap(\.self).joined(separator: " ")
            guard (try? DisplayLimits.check(name: text)) != nil else { return nil }
            return try? DisplayLine(text, atMost: longestLabel)
        }
        let (model, version) = (device["model"]?.string, device["osVersion"]?.string)
        let system = device["platform"]?.string.map { $0 == "IOS" ? "iOS" : $0 == "ANDROID" ? "Android" : $0 }
        let app = device["clientInstanceBundleId"]?.string
        guard let name = line(device["displayName"]?.string) ?? line(model) ?? line("Device") else {
            preconditionFailure("the word can be shown")
        }
        return DeviceLabels(
            name: name, model: model.flatMap { line($0) }, system: system.flatMap { line($0, version) },
            app: app.flatMap { line($0, device["clientInstanceVersion"]?.string) })
    }

    /// Apple's devices say in which environment they are known; all others have tokens of FCM.
    private static func push(_ push: JSONValue, of device: JSONValue) throws(OktaError) -> PushRegistration? {
        guard let token = push["pushToken"]?.string, !token.isEmpty else { return nil }
        guard let app = device["clientInstanceBundleId"]?.string.flatMap({ AppID($0) }) else {
            throw OktaError.invalid("clientInstanceBundleId must be the app's bundle identifier: pushes are sent to it")
        }
        let environment = push["apsEnvironment"]?.string.map { $0.lowercased() } ?? APNsEnvironment.production.rawValue
        let apns = APNsEnvironment(rawValue: environment).map { PushService.apns($0) }
        guard let service = device["platform"] == "ANDROID" ? PushService.fcm : apns,
            let registration = PushRegistration(service: service, app: app, token: Secret(token))
        else { throw OktaError.invalid("pushToken or apsEnvironment is not valid") }
        return registration
    }
}

extension OktaDoor {
    /// Enrolls a device: an exchange of the access token for a ticket, and the ticket's use.
    func enroll(_ incoming: Incoming) async throws -> Response {
        let owner = try await owner(of: incoming)
        let request = try OktaEnrollment(try incoming.vendorJSON(), by: owner)
        let ticket = try await ticket(for: incoming)
        let place = ContextLine(address: incoming.context.caller?.description, userAgent: nil)?
            .placed(by: ports.places, in: nil)
        let outcome = try await EnrollByJWK.enroll(
            EnrollByJWK.Request(ticket: ticket, keys: request.keys, device: request.device, push: request.push),
            from: place, ports: ports)
        switch outcome {
        case .enrolled(let enrollment, _): return Response(json: json(enrollment))
        case .ticketInvalid, .ticketExpired, .refused, .certificateInvalid: throw OktaError(.invalidToken)
        case .ticketUsed: throw Self.spent
        case .alreadyEnrolled: throw OktaError.invalid("a key was enrolled before: make new ones")
        case .tooManyDevices: throw OktaError(.forbidden, "the user has as many devices as the client allows")
        case .blocked: throw OktaError(.forbidden, "the client does not let the user enroll devices")
        case .pushTokenInUse: throw OktaError.invalid("another enrollment of the user has this pushToken")
        }
    }

    private static let spent = OktaError(.forbidden, "the sign-in has enrolled a device already: sign in again")

    /// The ticket for an access token, by the rules of the scope `enroll`.
    func ticket(for incoming: Incoming) async throws -> Secret<String> {
        guard let shown = shown(by: incoming) else { throw OktaError(.invalidToken) }
        switch try await ExchangeForTicket.exchange(shown.token, by: shown.key, ports: ports) {
        case .created(let created): return created.invitation.ticket
        case .invalidToken, .ended, .replayed: throw OktaError(.invalidToken)
        case .scopeMissing: throw OktaError(.forbidden)
        case .tooOld: throw OktaError(.forbidden, "the sign-in is too old: sign in again")
        case .tooWeak:
            throw OktaError(.forbidden, "the user has a device or a passkey, and must sign in by one")
        case .spent: throw Self.spent
        case .blocked: throw OktaError(.forbidden, "the client does not let the user enroll devices")
        }
    }
}

extension OktaError {
    /// Why keys are refused.
    init(_ refusal: DeviceJWKRefusal) {
        switch refusal {
        case .key(let role, _), .keyID(let role): self = .invalid("the key \(role.rawValue) is not valid")
        case .sameKeyID, .sameKey: self = .invalid("the two keys must differ, and their names as well")
        }
    }
}
