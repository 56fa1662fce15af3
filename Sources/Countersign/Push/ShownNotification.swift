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
    ///   - limit: how long it may take to verify the push, for which keys may have to be fetched. After 30 seconds the
    ///     system would show the push as it came.
    public func shownNotification(
        of push: PushNotification, orElse unverified: ShownNotification, within limit: Duration = .seconds(20)
    ) async -> ShownNotification {
        let (ends, continuation) = AsyncStream.makeStream(of: ShownNotification.self)
        // Others may wait for the same keys, so that fetching them does not end with this call.
        let check = Task {
            let pending = try? await pendingChallenge(from: push)
            continuation.yield(pending.map { ShownNotification($0, push.category) } ?? unverified)
        }
        let timer = Task {
            do { try await Task.sleep(for: limit) } catch { return }
            continuation.yield(unverified)
        }
        defer {
            check.cancel()
            timer.cancel()
        }
        for await shown in ends { return shown }
        return unverified
    }
}

/// Whose a notification is, by what the system hands over.
public enum NotificationOrigin: Sendable {
    /// A push of Countersign, not yet verified.
    case push(PushNotification)
    /// It names Countersign or wants its actions, and cannot be read: its texts are anybody's, and are not shown.
    case unreadable
    /// Another one, which the app shows as it is.
    case notOurs

    /// Reads the system's `userInfo`.
    public init(userInfo: [AnyHashable: Any]) {
        let category = (userInfo["aps"] as? [String: Any])?["category"] as? String
        if let push = PushNotification(userInfo: userInfo) {
            self = .push(push)
        } else if userInfo["countersign"] != nil || category.flatMap(PushCategory.init(rawValue:)) != nil {
            self = .unreadable
        } else {
            self = .notOurs
        }
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
