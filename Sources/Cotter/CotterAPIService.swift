/// The calls of Cotter's service that make a device a trusted one, and tell whether it is.
///
/// ``Cotter/configure(apiSecretKey:apiKeyID:configuration:)``, or a ``Cotter``, comes first. The other calls of the
/// original spoke its protocol, which this library does not have.
@MainActor
public final class CotterAPIService {
    /// The one there is.
    public static let shared = CotterAPIService()

    private init() {}

    /// Makes this device a trusted one of a user of the app, and signs them in: see ``Passwordless``.
    ///
    /// - Parameters:
    ///   - clientUserID: the app's id of the user.
    ///   - cb: takes the person, or why the device is not trusted.
    public func enrollTrustedDevice(clientUserID: String, cb: @escaping ResultCallback<CotterUser>) {
        tell(
            of: {
                let backing = try Backing.configured()
                return await backing.user(try await backing.trust(clientUserID, over: nil), clientUserID)
            }, cb)
    }

    /// Whether this device is enrolled for a user of the app, as far as the device knows.
    ///
    /// It is so, too, while the device waits for another one to let it in.
    ///
    /// - Parameters:
    ///   - clientUserID: the app's id of the user.
    ///   - cb: takes the answer, whose method is `TRUSTED_DEVICE`.
    public func getTrustedDeviceStatus(clientUserID: String, cb: @escaping ResultCallback<EnrolledMethods>) {
        tell(
            of: {
                let enrollment = try await Backing.configured().enrollment(of: clientUserID)
                return EnrolledMethods(enrolled: enrollment != nil, method: trustedDevice)
            }, cb)
    }

    /// Removes this device from the trusted ones of a user of the app, here and at the server.
    ///
    /// - Parameters:
    ///   - userID: the app's id of the user.
    ///   - cb: takes `enrolled: false` once it is removed; an error if it is none, or the server cannot be asked.
    public func removeTrustedDeviceStatus(userID: String, cb: @escaping ResultCallback<EnrolledMethods>) {
        tell(
            of: {
                try await Backing.configured().removeDevice(userID)
                return EnrolledMethods(enrolled: false, method: trustedDevice)
            }, cb)
    }
}
