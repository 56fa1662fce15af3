public import Foundation

/// A mobile authentication request that waits, as a push or the server's list announces it: nothing of it is secret.
public protocol PendingMobileAuthRequest: AnyObject, Sendable {
    /// Its id.
    var transactionId: String { get }
    /// Whom it is for.
    var userProfile: any UserProfile { get }
    /// When it was asked; nil if a push has announced it.
    var date: Date? { get }
    /// For how many seconds it waits, counted from ``date``; nil if a push has announced it.
    var timeToLive: TimeInterval? { get }
    /// The short message.
    ///
    /// A push's is what the notification shows: it is not verified before the request is handled.
    var message: String? { get }
    /// What the push brought; nil for the server's list.
    var userInfo: [AnyHashable: Any]? { get }
}

/// A mobile authentication request, decrypted and verified.
public protocol MobileAuthRequest: AnyObject, Sendable {
    /// The name of its type, such as `login_with_push`; empty for a request that failed before it was fetched.
    var type: String { get }
    /// Whom it is for.
    var userProfile: any UserProfile { get }
    /// What is to be shown: the message, then the details, one a line, then where it was started.
    ///
    /// The answer signs all of it, and ``signingData`` besides: show that as well. For a request that failed before it
    /// was fetched, it is what the push or the list said of it, or nil.
    var message: String? { get }
    /// What the push brought; nil for a request that came in another way.
    var userInfo: [AnyHashable: Any]? { get }
    /// Its id.
    var transactionId: String { get }
    /// Further data that the answer signs, as the portal has brought them; nil for none. They are not in ``message``.
    var signingData: String? { get }
}

/// What a push brought, kept as the JSON that it is.
struct PushInfo: Sendable {
    private let json: Data

    init?(_ userInfo: [AnyHashable: Any]?) {
        guard let userInfo, JSONSerialization.isValidJSONObject(userInfo),
            let json = try? JSONSerialization.data(withJSONObject: userInfo)
        else { return nil }
        self.json = json
    }

    var userInfo: [AnyHashable: Any]? {
        (try? JSONSerialization.jsonObject(with: json)) as? [String: Any]
    }
}

final class TranslatedPending: PendingMobileAuthRequest {
    let transactionId: String
    let userProfile: any UserProfile
    let date: Date?
    let timeToLive: TimeInterval?
    let message: String?
    private let push: PushInfo?

    var userInfo: [AnyHashable: Any]? { push?.userInfo }

    init(
        _ transactionId: String, _ profile: any UserProfile, date: Date? = nil, timeToLive: TimeInterval? = nil,
        message: String?, _ push: PushInfo? = nil
    ) {
        self.transactionId = transactionId
        userProfile = profile
        self.date = date
        self.timeToLive = timeToLive
        self.message = message
        self.push = push
    }
}

final class TranslatedRequest: MobileAuthRequest {
    let type: String
    let userProfile: any UserProfile
    let message: String?
    let transactionId: String
    let signingData: String?
    private let push: PushInfo?

    var userInfo: [AnyHashable: Any]? { push?.userInfo }

    init(
        _ transactionId: String, _ profile: any UserProfile, type: String = "", message: String? = nil,
        signingData: String? = nil, _ push: PushInfo? = nil
    ) {
        self.transactionId = transactionId
        userProfile = profile
        self.type = type
        self.message = message
        self.signingData = signingData
        self.push = push
    }
}
