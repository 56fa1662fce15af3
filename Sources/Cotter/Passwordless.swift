import Countersign

/// The calls by an address, without a view controller: prompts and pages are shown over the one on the screen.
///
/// ``Cotter/configure(apiSecretKey:apiKeyID:configuration:)`` comes first.
@MainActor
public final class Passwordless {
    /// The one there is.
    public static let shared = Passwordless()

    private init() {}

    /// Signs a person in as ``Cotter/loginWithTrustedDevice(vc:cb:)`` does.
    ///
    /// - Parameters:
    ///   - identifier: the app's id of the user.
    ///   - cb: takes the tokens, or why nobody was signed in.
    public func login(identifier: String, cb: @escaping CotterAuthCallback = DoNothingCallback) {
        tellTokens(cb) { backing in try await backing.login(identifier, over: nil) }
    }

    /// Signs a person in by their id at the server, on a device that is trusted; another one needs an address.
    ///
    /// - Parameters:
    ///   - cotterUserID: the person's id at the server, such as `usr_…`.
    ///   - cb: takes the tokens, or why nobody was signed in.
    public func loginWith(cotterUserID: String, cb: @escaping CotterAuthCallback = DoNothingCallback) {
        login(identifier: cotterUserID, cb: cb)
    }

    /// Makes this device a trusted one, and signs the person in, as ``Cotter/registerNewDevice(vc:cb:)`` does.
    ///
    /// - Parameters:
    ///   - identifier: the app's id of the user.
    ///   - cb: takes the person, or why the device is not trusted.
    public func register(identifier: String, cb: @escaping @MainActor (CotterUser?, (any Error)?) -> Void) {
        tell(of: { () async throws -> CotterUser in
            let backing = try Backing.configured()
            return await backing.user(try await backing.trust(identifier, over: nil), identifier)
        }) { result in
            switch result {
            case .success(let user): cb(user, nil)
            case .failure(let error): cb(nil, error)
            }
        }
    }

    /// Makes this device a trusted one, and signs the person in.
    ///
    /// - Parameters:
    ///   - identifier: the app's id of the user.
    ///   - cb: takes the tokens, or why the device is not trusted.
    public func registerWith(identifier: String, cb: @escaping CotterAuthCallback = DoNothingCallback) {
        tellTokens(cb) { backing in try await backing.trust(identifier, over: nil) }
    }

    /// Makes this device a trusted one of a person, and signs them in.
    ///
    /// - Parameters:
    ///   - cotterUser: the person, as ``Cotter/startPasswordlessLogin(parentView:input:identifierField:type:directLogin:userID:authMethod:cb:)`` has told.
    ///   - cb: takes the tokens, or why the device is not trusted.
    public func registerWith(cotterUser: CotterUser, cb: @escaping CotterAuthCallback = DoNothingCallback) {
        let name = cotterUser.clientUserID.isEmpty ? cotterUser.identifier ?? cotterUser.id : cotterUser.clientUserID
        registerWith(identifier: name, cb: cb)
    }

    /// Shows the newest question that waits for a user of the app on this device; does nothing if there is none.
    ///
    /// An error, such as a device that is not trusted, is told to nobody: ``Cotter/getEventTrustedDevice(vc:cb:)``
    /// tells it.
    ///
    /// - Parameter clientUserID: the app's id of the user.
    public func checkEvent(clientUserID: String) {
        tell(nil) {
            _ = try await Backing.configured().answer(clientUserID, over: nil)
            return ""
        }
    }

    /// Shows the newest question that waits for a user of the app on this device: see ``checkEvent(clientUserID:)``.
    ///
    /// - Parameter identifier: the app's id of the user.
    public func checkEvent(identifier: String) { checkEvent(clientUserID: identifier) }

    /// Makes this device a trusted one, as ``Cotter/registerNewDevice(vc:cb:)`` does.
    ///
    /// - Parameters:
    ///   - identifier: the app's id of the user.
    ///   - cb: takes the access token, or why the device is not trusted.
    public func registerDevice(identifier: String, cb: @escaping FinalAuthCallback) {
        tell(cb) { try await Backing.configured().trust(identifier, over: nil).token.reveal() }
    }

    /// Asks whether a new device may be added, as ``Cotter/scanNewDevice(vc:cb:)`` does, which tells errors as well.
    ///
    /// - Parameter identifier: the app's id of the user.
    public func scanNewDevice(identifier: String) {
        tell(nil) {
            try await Backing.configured().admitDevice(identifier, over: nil)
            return ""
        }
    }

    /// Removes this device, as ``Cotter/removeTrustedDevice(vc:cb:)`` does.
    ///
    /// - Parameters:
    ///   - identifier: the app's id of the user.
    ///   - cb: is called with "" once it is removed; with an error if it is none, or the server cannot be asked.
    public func removeDevice(identifier: String, cb: @escaping FinalAuthCallback) {
        tell(cb) {
            try await Backing.configured().removeDevice(identifier)
            return ""
        }
    }

    /// Ends the sign-in: see ``Cotter/logout()``.
    public func logout() { Cotter.logout() }

    private func tellTokens(
        _ callback: @escaping CotterAuthCallback, _ work: @escaping @MainActor (Backing) async throws -> Backing.Grant
    ) {
        tell(of: { () async throws -> CotterOAuthToken in
            let backing = try Backing.configured()
            return backing.tokens(try await work(backing))
        }) { result in
            switch result {
            case .success(let tokens): callback(tokens, nil)
            case .failure(let error): callback(nil, error)
            }
        }
    }
}
