package import CountersignWire

/// Whoever manages the devices with JWKs that one client's app has enrolled, by an access token of the client.
///
/// Two kinds of tokens do. One with the scope `enroll` stands for a person who has signed in, and for all their devices. The
/// other was signed for by a device itself, and stands for nothing but its own enrollment.
package struct DeviceOwner: Equatable, Sendable {
    /// The user.
    package let user: UserID
    /// The client.
    package let client: Client
    /// The scopes of the token.
    let scopes: [String]
    /// The device that has signed for the token by itself; nil if a person has signed in.
    let device: EnrollmentID?

    /// Whether the token enrolls, changes and removes devices.
    package var mayManage: Bool { scopes.contains(Ticket.scope) }

    /// Whether a device maintains itself by the token.
    private var maintains: Bool { scopes.contains(where: VendorScopes.maintenance.contains) }

    /// Whether the token may know of a device: that of a person of all, that of a device of its own.
    func maySee(_ id: EnrollmentID) -> Bool { !maintains || device == id }

    /// Whether the token may know what a device is asked, and change where its pushes go.
    func mayMaintain(_ id: EnrollmentID) -> Bool { mayManage || maintains && device == id }
}

extension Stores {
    /// A device of an owner that signs JWTs, also a removed one; nil if there is none.
    func appDevice(_ id: EnrollmentID, of owner: DeviceOwner) throws -> Enrollment? {
        guard let enrollment = try enrollments.find(id), enrollment.user == owner.user,
            enrollment.client == owner.client.id, enrollment.jwks?.form == .jwt
        else { return nil }
        return enrollment
    }
}
