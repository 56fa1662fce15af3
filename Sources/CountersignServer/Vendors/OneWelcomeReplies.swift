import CountersignCore
import CountersignWire
import Encodings
import Hummingbird
import OpenPGP

/// The replies to a portal, each from the outcome of an operation.
extension OneWelcomeDoor {
    /// The challenge that was asked.
    func asked(_ result: Replayable<AskChallenge.Outcome>) throws -> AskedChallenge {
        switch result {
        case .done(.asked(let asked)): return asked
        case .done(.refused(let refusal)): throw try OneWelcomeError(asking: refusal)
        case .replayed, .conflict: preconditionFailure("a portal has no idempotency key")
        }
    }

    /// The reply to a question that was asked.
    ///
    /// - Parameters:
    ///   - asked: the question.
    ///   - device: the device that was asked; nil if a code is sent or shown.
    func reply(_ asked: AskedChallenge, of device: Enrollment?) -> Response {
        let challenge = asked.challenge
        let method = asked.code != nil ? "otp" : challenge.methods.isEmpty ? "sms" : "push"
        let shown = device.map { device in
            JSONValue.members([
                "name": .string(device.device.name.text), "platform": device.portalPlatform.map(JSONValue.string),
            ])
        }
        return Response(
            json: .members([
                "transaction_id": .string(challenge.id.uuid), "auth_method": .string(method),
                // In milliseconds; the time at which it was asked is one in whole seconds.
                "time_to_live": .integer(1000 * (challenge.expiresAt.seconds - challenge.askedAt.seconds)),
                "otp": asked.code.map { .string($0.code.text) }, "device": shown,
                // What OneWelcome has not: the number to be shown, where the type has one, and the name by our own calls.
                "number": asked.number.map { .string($0.digits) }, "challenge": .string("\(challenge.id)"),
            ]))
    }

    /// The names of the types by which somebody can be asked.
    func names(of types: [AvailableMethods.Available]) -> Response {
        Response(json: ["enabled": .array(types.map { .string("\($0.type)") })])
    }

    /// The types by which somebody can be asked, with the devices.
    func reply(
        _ types: [AvailableMethods.Available], to client: Client, _ version: OneWelcomeQuestion.Version
    ) -> Response {
        let all = types.map { type -> JSONValue in
            let isPush = type.channel == .devices
            return .members([
                "type": .string("\(type.type)"), "method": .string(type.portalMethod.uppercased()),
                "sms_fallback_allowed": isPush ? .bool(type.fallsBackToText) : nil,
                "apps_enrolled_for_push": isPush ? .array(apps(of: type, client, version)) : nil,
            ])
        }
        return Response(json: ["enabled": .array(all)])
    }

    /// The app of each device or, where no device is named, the one app of the client.
    private func apps(
        of type: AvailableMethods.Available, _ client: Client, _ version: OneWelcomeQuestion.Version
    ) -> [JSONValue] {
        let (id, name) = (JSONValue.string("\(client.id)"), JSONValue.string(client.name.text))
        switch version {
        case .v3: return type.devices.isEmpty ? [] : [["id": id, "name": name]]
        case .v4:
            return type.devices.map { device in
                JSONValue.members([
                    "app_id": id, "app_name": name, "device_id": .string("\(device.id)"),
                    "device_name": .string(device.device.name.text),
                    "platform": device.portalPlatform.map(JSONValue.string),
                ])
            }
        }
    }

    /// The challenge as it is now.
    func shown(_ outcome: WatchChallenge.Outcome) throws -> WatchChallenge.Shown {
        switch outcome {
        case .shown(let shown): return shown
        case .notFound: throw OneWelcomeError(.transactionInvalid)
        case .refused(let refusal): throw OAuthError(caller: refusal)
        }
    }

    /// The result of a transaction; while nobody has answered, nobody is authenticated, and there is no reason.
    func reply(_ shown: WatchChallenge.Shown, user: String?) -> Response {
        let challenge = shown.challenge
        var result = JSONObject([
            "callback_uri": challenge.callbackURI.map { .string($0.description) },
            "transaction_id": .string(challenge.id.uuid),
            "timestamp": .integer(challenge.question.askedAt.milliseconds), "user_id": user.map(JSONValue.string),
            "is_authenticated": false,
        ])
        if case .ended(let outcome, _) = challenge.state {
            if let method = outcome.portalMethod {
                result["is_authenticated"] = true
                result["authentication_method"] = .string(challenge.channel.kind == .code ? "otp" : method)
                add(shown.receipt, of: challenge, to: &result)
            } else if let (reason, description) = outcome.portalReason {
                result["not_authenticated_reason"] = [
                    "reason": .string(reason), "description": .string(description),
                ]
            }
        }
        return Response(json: .object(result))
    }

    /// Adds what was signed, where the portal has brought data to be signed: our receipt, which contains the data, and
    /// the certificate that verifies it.
    private func add(_ evidence: Evidence?, of challenge: Challenge, to result: inout JSONObject) {
        guard challenge.question.signingData != nil, case .receipt(let message, let bytes)? = evidence,
            let certificate = try? Certificate(parsing: bytes)
        else { return }
        result["signature"] = .string(message.encoded)
        result["user_public_key"] = .string(certificate.armored)
        result["signature_verified"] = true
    }

    func reply(_ outcome: EnterCode.Outcome) throws(OneWelcomeError) -> Response {
        switch outcome {
        case .approved(let challenge): return Response(json: ["transaction_id": .string(challenge.id.uuid)])
        case .incorrect: throw OneWelcomeError(.codeInvalid)
        case .noCode, .alreadyEnded, .notFound: throw OneWelcomeError(.transactionInvalid)
        }
    }

    func reply(_ outcome: ResendChallenge.Outcome) throws(OneWelcomeError) -> Response {
        switch outcome {
        case .resent: return Response(status: .noContent)
        // Neither the code nor the number is kept, so that a code is never sent again.
        case .tooMany: throw OneWelcomeError(.resendLimit)
        case .reported: throw OneWelcomeError(.noPossibility)
        case .alreadyEnded, .notFound: throw OneWelcomeError(.transactionInvalid)
        }
    }
}

extension AvailableMethods.Available {
    /// How a portal calls what somebody answers by.
    fileprivate var portalMethod: String {
        switch channel {
        case .devices: allowed.first?.portalMethod ?? "push"
        case .code: "otp"
        case .text: "sms"
        }
    }

    /// Whether a device can answer by the type, or can at least be passed by: a code is sent to any of a user's numbers.
    func works(on device: EnrollmentID, among types: [AvailableMethods.Available]) -> Bool {
        let isKnown = types.contains { $0.devices.contains { $0.id == device } }
        return devices.contains { $0.id == device } || isKnown && (channel == .text || fallsBackToText)
    }
}

extension AnswerMethod {
    fileprivate var portalMethod: String {
        switch self {
        case .confirm: "push"
        case .pin: "push_with_pin"
        case .biometric: "push_with_fingerprint"
        case .custom: "push_with_custom_authenticator"
        }
    }
}

extension ChallengeOutcome {
    /// How a portal calls what the user has approved by; nil for every other end.
    fileprivate var portalMethod: String? {
        switch self {
        case .approved(let method, _): method.portalMethod
        case .entered: "sms"
        case .denied, .reported, .failed, .cancelled, .expired: nil
        }
    }

    /// Why the user is not authenticated, by one of the four words that a portal knows; nil if they are.
    fileprivate var portalReason: (reason: String, description: String)? {
        switch self {
        case .approved, .entered: nil
        case .denied: ("not_accepted", "the user has declined")
        case .reported: ("not_accepted", "the user says that somebody else has begun this")
        case .failed(.wrongNumber): ("invalid_answer", "another number was typed than was shown")
        case .failed(.tooManyAttempts): ("invalid_answer", "there were too many wrong tries")
        case .failed(.deviceRemoved), .failed(.deviceSuspended):
            ("failed_to_send", "no device is left that could answer")
        case .cancelled: ("invalid_request", "the request was taken back")
        case .expired: ("invalid_answer", "nobody has answered in time")
        }
    }
}

extension Enrollment {
    /// `ios` or `android`; nil where neither is known.
    var portalPlatform: String? {
        switch push?.service {
        case .apns?: return "ios"
        case .fcm?: return "android"
        case .local?, nil: break
        }
        let system = device.labels.system?.text.lowercased() ?? ""
        if system.hasPrefix("android") { return "android" }
        return system.hasPrefix("ios") || system.hasPrefix("ipados") ? "ios" : nil
    }
}
