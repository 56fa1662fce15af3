package import CountersignCore
package import CountersignWire

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
