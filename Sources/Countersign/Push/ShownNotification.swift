public import CountersignWire
import Encodings
import Foundation

/// What a notification shows.
public struct ShownNotification: Hashable, Sendable {
    /// The title: who asks.
    public let title: String
    /// The text below.
    public let body: String
    /// The identifier of the category whose actions it offers; nil for none.
    public let category: String?

    /// A notification of these texts that offers nothing, for a push that cannot be verified.
    ///
    /// Name nobody in it, such as *A question waits for you* with the app's name as its title.
    public init(title: String, body: String) {
        self.init(title: title, body: body, category: nil)
    }

    private init(title: String, body: String, category: String?) {
        self.title = title
        self.body = body
        self.category = category
    }

    init(_ pending: PendingChallenge, _ category: PushCategory?) {
        self.init(title: pending.clientName, body: pending.message, category: category?.rawValue)
    }
}

extension Authenticator {
    /// What a notification shows of a push, for the extension that the system asks before it shows one.
    ///
    /// Only a push that was verified is shown with the client's name and its short message. The challenge itself is
    /// neither fetched nor decrypted: nothing of it can be in the notification.
    ///
    /// - Parameters:
    ///   - push: the push, as the system handed it over.
    ///   - unverified: what is shown instead of a push that does not pass, or that is for no enrollment of this device.
    public func shownNotification(
        of push: PushNotification, orElse unverified: ShownNotification
    ) async -> ShownNotification {
        guard let pending = try? await pendingChallenge(from: push) else { return unverified }
        return ShownNotification(pending, push.category)
    }
}

extension PushNotification {
    /// The category that the push names; nil for another one.
    var category: PushCategory? { payload["aps"]?["category"]?.string.flatMap(PushCategory.init(rawValue:)) }

    /// The challenge that the system's `userInfo` names, unverified; nil when it is not that of a push of Countersign.
    public static func challenge(named userInfo: [AnyHashable: Any]) -> ChallengeID? {
        PushNotification(userInfo: userInfo)?.payload["countersign"]?["id"]?.string.flatMap { ChallengeID($0) }
    }
}

/// What a fetch of pending challenges in the background brought.
public enum BackgroundFetch: Hashable, Sendable {
    /// So many challenges are pending, at least one.
    case pending(Int)
    /// Nothing is pending.
    case nothing
    /// Nothing could be fetched.
    case failed

    /// The number on the app's icon; nil to leave it.
    public var badge: Int? {
        switch self {
        case .pending(let count): count
        case .nothing: 0
        case .failed: nil
        }
    }
}

extension Authenticator {
    /// Fetches the pending challenges while the app is in the background, for ``challenges()`` and for the app's badge.
    public func fetchInBackground() async -> BackgroundFetch {
        await lookNow()
        guard let pending = try? await pendingChallenges() else { return .failed }
        return pending.isEmpty ? .nothing : .pending(pending.count)
    }
}
