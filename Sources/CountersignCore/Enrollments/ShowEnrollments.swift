import CountersignWire

/// Shows enrollments to those whose they are.
public enum ShowEnrollments {
    /// The calling device's own.
    public static func own(_ call: DeviceCall, ports: Ports) async throws -> Result<Enrollment, DeviceRefusal> {
        if let refusal = try await ports.commit(at: ports.time.now, { try $0.admit(call, evenSuspended: true) }) {
            return .failure(refusal)
        }
        return .success(call.enrollment)
    }

    /// A user's, removed ones too, or nil when the client is linked to no such user.
    public static func list(
        of reference: UserReference, to client: Client, ports: Ports
    ) async throws -> [Enrollment]? {
        try await ports.store.read { reader in
            guard let user = try reader.links.find(reference, of: client.id) else { return nil }
            return try reader.enrollments.all(of: user.id)
        }
    }
}
