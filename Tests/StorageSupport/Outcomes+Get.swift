package import CountersignCore
package import CountersignWire

/// What came of operations that a test expects to succeed; a refusal of a device or a question is thrown.
extension VerifyDevice.Outcome {
    /// The call.
    package func get() throws -> DeviceCall {
        switch self {
        case .verified(let call): return call
        case .refused(let refusal): throw refusal
        }
    }
}

extension ShowMethods.Outcome {
    /// The methods.
    package func get() throws -> MethodsReply {
        switch self {
        case .methods(let methods): return methods
        case .refused(let refusal): throw refusal
        }
    }
}

extension UpdateEnrollment.Outcome {
    /// The enrollment.
    package func get() throws -> Enrollment {
        switch self {
        case .updated(let enrollment): return enrollment
        case .refused(let refusal): throw refusal
        case .pushTokenInUse: throw World.Broken("push token in use")
        }
    }
}

extension UpdateClient.Outcome {
    /// The client.
    package func get() throws -> Client {
        guard case .updated(let client) = self else { throw World.Broken("no client") }
        return client
    }
}
