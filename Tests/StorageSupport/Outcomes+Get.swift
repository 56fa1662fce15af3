package import CountersignCore
package import CountersignWire
package import Encodings

/// Returns the success of an operation, or throws its refusal, for tests that expect success.
extension VerifyDevice.Outcome {
    package func get() throws -> DeviceCall {
        switch self {
        case .verified(let call): return call
        case .refused(let refusal): throw refusal
        }
    }
}

extension ShowMethods.Outcome {
    package func get() throws -> MethodsReply {
        switch self {
        case .methods(let methods): return methods
        case .refused(let refusal): throw refusal
        }
    }
}

extension UpdateEnrollment.Outcome {
    package func get() throws -> Enrollment {
        switch self {
        case .updated(let enrollment): return enrollment
        case .refused(let refusal): throw refusal
        case .pushTokenInUse: throw World.Broken("push token in use")
        }
    }
}

extension UpdateClient.Outcome {
    package func get() throws -> Client {
        guard case .updated(let client) = self else { throw World.Broken("no client") }
        return client
    }
}

extension ListOutcome {
    package func get() throws -> Page<Element> {
        guard case .page(let page) = self else { throw World.Broken("the cursor is refused") }
        return page
    }
}

extension AuthenticateClient.Outcome {
    /// The client; nil if it was refused.
    package var caller: ClientCaller? {
        if case .authenticated(let caller) = self { caller } else { nil }
    }
}

extension ExportUser.Outcome {
    /// The export; nil if there is no such user.
    package var export: ExportUser? {
        if case .begun(let export) = self { export } else { nil }
    }
}

extension FirstStart.Outcome {
    /// The bootstrap token; nil if it was made earlier.
    package var token: Secret<String>? {
        if case .prepared(let token) = self { token } else { nil }
    }
}

extension RenewBootstrapToken.Outcome {
    package var token: Secret<String> {
        switch self {
        case .renewed(let token): token
        }
    }
}
