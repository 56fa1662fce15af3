import Countersign
import CountersignPrompts
import CountersignWire
import Foundation

/// What an app has configured, and the SDK behind it.
///
/// Each pair of a server and a client has one, so that all who need an access token share a refresh.
@MainActor
final class Backing {
    /// The SDK's own objects.
    struct Parts: Sendable {
        let vault: any Vault
        let authenticator: Authenticator
        /// Signs in.
        let client: OpenIDClient
        /// Signs in on the page to enroll this device.
        let enroller: OpenIDClient
    }

    /// A sign-in that has just happened, and its access token.
    struct Grant: Sendable {
        let token: AccessToken
        let signedIn: SignedIn
    }

    /// What is known of the sign-in on this device.
    private enum Standing {
        /// It was not read yet.
        case unread
        case nobody
        /// The person's id, and the last access token, if one could be had.
        case person(String, AccessToken?)
    }

    private struct Key: Hashable {
        let issuer: String
        let client: String
    }

    /// The one that was configured last, for calls that name none.
    private(set) static var current: Backing?
    private static var all: [Key: Backing] = [:]

    /// How the app's prompts look, and what they say.
    var look = Look()
    let settings: CotterSettings

    let issuer: String
    private let clientID: String
    private var making: Task<Result<Parts, CountersignError>, Never>?
    private var standing = Standing.unread
    private var renewing: Task<Result<AccessToken, CountersignError>, Never>?
    /// The end of a sign-in, which would take along one that begins before it is over.
    private(set) var ending: Task<Void, Never>?
    /// The registration of this device that was begun last, and those before it.
    var registering: Task<Void, Never>?
    /// The enrollment that was made last since the app has begun.
    var newest: Enrollment?
    /// Counts what begins or ends a sign-in, so that a renewal under way brings nothing back.
    private var generation = 0

    /// The one of an app's values, which is from now on the current one.
    static func configured(_ apiKeyID: String, at url: String, by settings: CotterSettings) -> Backing {
        let issuer = settings.issuer?.absoluteString ?? origin(of: url)
        let key = Key(issuer: issuer, client: settings.clientID ?? apiKeyID)
        let backing = all[key] ?? Backing(key, settings)
        all[key] = backing
        current = backing
        return backing
    }

    /// Has the next one made anew, by other settings.
    static func forgetAll() {
        all = [:]
        current = nil
    }

    /// The one that was configured last.
    static func configured() throws -> Backing {
        guard let current else { throw CotterError.general(message: "Make a Cotter, or call Cotter.configure, first.") }
        return current
    }

    /// A URL without its path, as the original took `cotterURL`.
    private static func origin(of url: String) -> String {
        guard var parts = URLComponents(string: url) else { return url }
        parts.path = ""
        parts.query = nil
        return parts.string ?? url
    }

    private init(_ key: Key, _ settings: CotterSettings) {
        issuer = key.issuer
        clientID = key.client
        self.settings = settings
        read()
    }

    /// The SDK's objects, made once they are needed.
    func parts() async throws(CountersignError) -> Parts {
        let task = making ?? Task { await made() }
        making = task
        let result = await task.value
        // What was missing may be there the next time, such as keys of a device that was locked.
        if case .failure = result { making = nil }
        return try result.get()
    }

    private func made() async -> Result<Parts, CountersignError> {
        do throws(CountersignError) {
            guard let url = URL(string: issuer) else { throw .configurationInvalid("\(issuer) is no URL") }
            let vault = if let vault = settings.vault { vault } else { try Self.usualVault() }
            let authenticator = try await Authenticator(
                issuer: url, app: settings.app ?? Self.usualApp(), vault: vault, transport: settings.transport,
                clock: settings.clock)
            return .success(
                Parts(
                    vault: vault, authenticator: authenticator,
                    client: try client(settings.scopes, at: url, vault),
                    // In the app's vault, its sign-in would take the place of whoever is signed in.
                    enroller: try client(enrollerScopes, at: url, MemoryVault())))
        } catch {
            return .failure(error)
        }
    }

    /// What the person allows a device that enrolls, which includes what its sign-ins ask for.
    private var enrollerScopes: [String] {
        settings.scopes.filter { $0 != "offline_access" && $0 != "enroll" } + ["enroll"]
    }

    private func client(
        _ scopes: [String], at issuer: URL, _ vault: any Vault
    ) throws(CountersignError) -> OpenIDClient {
        guard let redirectURI = settings.redirectURI ?? Self.usualRedirectURI() else {
            throw .configurationInvalid("the app has no bundle id that is a scheme: set Cotter.settings.redirectURI")
        }
        return try OpenIDClient(
            OpenIDRegistration(issuer: issuer, clientID: clientID, redirectURI: redirectURI, scopes: scopes),
            vault: vault, transport: settings.transport, clock: settings.clock)
    }
}

// MARK: - Signing in

extension Backing {
    /// The access token, while it is good; one that is over is renewed for the next time.
    var accessToken: String? {
        if case .person(_, let token?) = standing, settings.clock.millisecondsSince1970 < token.expiresAt {
            return token.reveal()
        }
        if case .nobody = standing { return nil }
        read()
        return nil
    }

    /// The id of whoever is signed in; nil for nobody, or before it was read.
    var person: String? {
        switch standing {
        case .person(let id, _): return id
        case .nobody: return nil
        case .unread:
            read()
            return nil
        }
    }

    /// Reads who is signed in, and renews the access token if need be.
    private func read() {
        Task { _ = try? await freshToken() }
    }

    /// An access token that is good for some time yet: refreshed, or of a new sign-in by this device.
    ///
    /// Callers at the same time share one sign-in.
    func freshToken() async throws(CountersignError) -> AccessToken {
        let task =
            renewing
            ?? Task {
                let result: Result<AccessToken, CountersignError>
                do throws(CountersignError) { result = .success(try await renewed()) } catch {
                    result = .failure(error)
                }
                renewing = nil
                return result
            }
        renewing = task
        return try await task.value.get()
    }

    private func renewed() async throws(CountersignError) -> AccessToken {
        await ending?.value
        let begun = generation
        let parts = try await parts()
        guard let id = try await parts.client.signedIn()?.identity.subject else {
            if begun == generation { standing = .nobody }
            throw .notSignedIn
        }
        // Who it is, is known without a network.
        if begun == generation, case .unread = standing { standing = .person(id, nil) }
        do throws(CountersignError) {
            let token = try await token(of: id, by: parts)
            if begun == generation { standing = .person(id, token) }
            return token
        } catch {
            if begun == generation, error.isOfEndedSignIn { standing = .nobody }
            throw error
        }
    }

    /// A sign-in by a device has no refresh token, because the device can sign anew at any time, as it does here.
    private func token(of id: String, by parts: Parts) async throws(CountersignError) -> AccessToken {
        do throws(CountersignError) {
            return try await parts.client.accessToken()
        } catch {
            guard case .notSignedIn = error,
                let enrollment = await parts.authenticator.enrollments.last(where: { "\($0.user)" == id })
            else { throw error }
            _ = try await parts.client.signInAnew(by: enrollment)
            return try await parts.client.accessToken()
        }
    }

    /// Keeps a sign-in that has just happened, unless the person signs out at this very moment.
    func took(_ signedIn: SignedIn) async throws(CountersignError) -> Grant {
        let begun = ending
        let taken = Grant(token: try await parts().client.accessToken(), signedIn: signedIn)
        guard begun == ending else { throw .notSignedIn }
        generation += 1
        standing = .person(signedIn.identity.subject, taken.token)
        return taken
    }

    /// Ends the sign-in on this device at once, and at the server as soon as it can be told.
    func signOut() {
        generation += 1
        standing = .nobody
        ending = Task { _ = try? await parts().client.signOut() }
    }
}

extension CountersignError {
    /// Whether it says that the sign-in is over, and not that it cannot be renewed now.
    fileprivate var isOfEndedSignIn: Bool {
        switch self {
        case .notSignedIn, .signInEnded, .deviceDeregistered, .enrollmentUnknown, .enrollmentSuspended,
            .enrollmentWaiting, .notEnrolled:
            true
        case .signInRefused(let refusal): refusal != .unavailable
        default: false
        }
    }
}

// MARK: - Whose device this is

extension Backing {
    /// The name of the vault's record that tells for which of the app's users each enrollment is.
    private static let users = "cotter-users"

    /// The enrollment of a user of the app on this device; nil if there is none.
    func enrollment(of userID: String) async throws -> Enrollment? {
        let parts = try await parts()
        let names = try await names(in: parts)
        return await parts.authenticator.enrollments.last { names["\($0.id)"] == userID || "\($0.user)" == userID }
    }

    /// The same person's enrollment on this device that counts, where a newer one would wait for it; nil for none.
    ///
    /// Another call has made it, and the app may have ended before it was noted for which of its users it is. What waits
    /// for it is removed.
    ///
    /// - Parameters:
    ///   - newer: one that waits.
    ///   - userID: the app's id of the user.
    func earlier(than newer: Enrollment, of userID: String) async throws -> Enrollment? {
        let parts = try await parts()
        let names = try await names(in: parts)
        var (counting, waiting) = (Enrollment?.none, [newer])
        for other in await parts.authenticator.enrollments
        where other.id != newer.id && other.user == newer.user && [nil, userID].contains(names["\(other.id)"]) {
            do throws(CountersignError) {
                if try await other.refresh() == nil { counting = other } else { waiting.append(other) }
            } catch {
                continue
            }
        }
        guard let counting else { return nil }
        for enrollment in waiting { try await enrollment.remove() }
        return counting
    }

    /// Notes for which of the app's users an enrollment is.
    func note(_ enrollment: Enrollment, for userID: String) async throws {
        let parts = try await parts()
        let known = Set(await parts.authenticator.enrollments.map { "\($0.id)" })
        var names = try await names(in: parts).filter { known.contains($0.key) }
        names["\(enrollment.id)"] = userID
        try await parts.vault.writeAppRecord(Array(try JSONEncoder().encode(names)), as: Self.users)
    }

    private func names(in parts: Parts) async throws -> [String: String] {
        guard let bytes = try await parts.vault.appRecord(Self.users) else { return [:] }
        return try JSONDecoder().decode([String: String].self, from: Data(bytes))
    }
}
