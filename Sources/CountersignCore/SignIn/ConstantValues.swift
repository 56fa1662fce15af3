import CountersignWire
import Encodings
import Logging

/// Notices clients whose PKCE challenge or nonce is a constant, so that it protects nobody.
///
/// A value that comes with the sign-ins of two people was made for neither. What each client sent last is held in memory:
/// a constant meets every server soon, and no sign-in pays for a row.
///
/// Spec: RFC 9700 §2.1.1.
enum ConstantValues {
    /// What came with a client's latest sign-in.
    struct Latest: Sendable {
        let user: UserID
        let values: [Parameter: SecretHash]
        /// When the audit was told last; nil if it was not.
        var toldAt: Timestamp?
    }

    /// A parameter whose value must be new each time.
    enum Parameter: String, CaseIterable {
        case codeChallenge = "code_challenge"
        case nonce
    }

    /// How often the audit is told of a client by each server.
    private static let pause = Seconds.days(1)

    /// Compares what a client sent with what came with its sign-in before, and tells the audit of a constant.
    ///
    /// The person is signed in whatever comes of it.
    static func check(_ wanted: Wanted, of user: UserID, ports: Ports) async {
        let now = ports.time.now
        let values = wanted.newValues.mapValues { SecretHash(of: Secret($0)) }
        guard !values.isEmpty else { return }
        let before = ports.latestValues[wanted.client]
        var latest = Latest(user: user, values: values, toldAt: before?.toldAt)
        defer { ports.latestValues.keep(latest, as: wanted.client) }
        guard let before, before.user != user else { return }
        let constants = Parameter.allCases.filter { parameter in
            guard let value = values[parameter] else { return false }
            return value == before.values[parameter]
        }
        guard !constants.isEmpty, before.toldAt.map({ $0.adding(pause) <= now }) ?? true else { return }
        do {
            try await ports.commit(at: now, as: .system) { work in
                try work.raise(.constantValues(constants.map(\.rawValue), of: wanted.client))
            }
            latest.toldAt = now
        } catch {
            ports.logger.warning("a client's constant values were not told", metadata: ["error": "\(error)"])
        }
    }
}

extension Wanted {
    fileprivate var newValues: [ConstantValues.Parameter: String] {
        var values: [ConstantValues.Parameter: String] = [:]
        values[.codeChallenge] = codeChallenge
        values[.nonce] = nonce
        return values
    }
}
