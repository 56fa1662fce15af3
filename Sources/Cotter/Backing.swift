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

    /// A sign-in, and its access token.
    struct Grant: Sendable {
        let token: AccessToken
        let signedIn: SignedIn
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
    /// The sign-in that is known; nil for none, or before it was read.
    private(set) var grant: Grant?
    let settings: CotterSettings

    let issuer: String
    private let clientID: String
    private var making: Task<Result<Parts, CountersignError>, Never>?
    private var reading: Task<Void, Never>?
    /// Counts what begins or ends a sign-in, so that a reading under way brings nothing back.
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
                    enroller: try client(["openid", "enroll"], at: url, vault)))
        } catch {
            return .failure(error)
        }
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
        guard let grant else { return nil }
        guard settings.clock.millisecondsSince1970 < grant.token.expiresAt else {
            read()
            return nil
        }
        return grant.token.reveal()
    }

    /// Reads who is signed in, and renews the access token if need be.
    private func read() {
        guard reading == nil else { return }
        let begun = generation
        reading = Task {
            let found = await stored()
            reading = nil
            if begun == generation { grant = found }
        }
    }

    private func stored() async -> Grant? {
        guard let parts = try? await parts(), let signedIn = try? await parts.client.signedIn(),
            let token = try? await parts.client.accessToken()
        else { return nil }
        return Grant(token: token, signedIn: signedIn)
    }

    /// An access token that is good for some time yet.
    func freshToken() async throws(CountersignError) -> AccessToken { try await parts().client.accessToken() }

    /// Keeps a sign-in that has just happened.
    func took(_ signedIn: SignedIn) async throws(CountersignError) -> Grant {
        let taken = Grant(token: try await parts().client.accessToken(), signedIn: signedIn)
        generation += 1
        grant = taken
        return taken
    }

    /// Ends the sign-in on this device at once, and at the server as soon as it can be told.
    func signOut() {
        generation += 1
        grant = nil
        Task { _ = try? await parts().client.signOut() }
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
