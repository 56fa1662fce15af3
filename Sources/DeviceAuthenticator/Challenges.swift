public import Foundation

/// A question that waits for the user's answer.
public protocol ChallengeProtocol: AnyObject, Sendable {
    /// The challenge's id.
    var transactionId: String { get }
    /// The server.
    var originURL: URL? { get }
    /// When it was asked.
    var transactionTime: Date { get }
    /// The name of the one who asks.
    var appInstanceName: String? { get }

    /// Fetches the question, asks for what is missing of an answer, and sends the answer.
    ///
    /// It may be called again after an error, as long as the question waits.
    ///
    /// - Parameters:
    ///   - onRemediation: gets each step, one after the other, on any thread.
    ///   - onCompletion: called once: with nil if an answer has arrived, whether it was yes or no. Otherwise nothing
    ///     has decided: ``DeviceAuthenticatorError/genericError(_:)`` if the app has let go of a step, or gives no
    ///     number; ``DeviceAuthenticatorError/securityError(_:)`` if biometrics fail;
    ///     ``DeviceAuthenticatorError/networkError(_:)`` without a network;
    ///     ``DeviceAuthenticatorError/serverAPIError(_:_:)`` for a question that is over, for a wrong number, which
    ///     ends it, and for one that wants a method that these calls do not have (`method_missing`).
    func resolve(
        onRemediation: @escaping @Sendable (any RemediationStep) -> Void,
        onCompletion: @escaping @Sendable (DeviceAuthenticatorError?) -> Void
    )
}

extension ChallengeProtocol {
    /// Does what ``resolve(onRemediation:onCompletion:)`` does, under the name in the vendor's documents, which tell
    /// nobody how it ended.
    public func resolve(onRemediationStep: @escaping @Sendable (any RemediationStep) -> Void) {
        resolve(onRemediation: onRemediationStep, onCompletion: { _ in })
    }
}

/// A question that a push announced or the server listed.
public protocol PushChallengeProtocol: ChallengeProtocol {
    /// Where this was started, in one line with the place and the browser; nil until the question has been fetched.
    var clientLocation: String? { get }
    /// The system on which this was started: always nil, since ``clientLocation`` has the whole line.
    var clientOS: String? { get }
    /// The user's answer, if there is one before ``ChallengeProtocol/resolve(onRemediation:onCompletion:)``.
    ///
    /// An approval is sent without the step of consent only if the notification has shown all of the question;
    /// otherwise it is asked for again, and this is ``PushChallengeUserResponse/userNotResponded`` by then.
    var userResponse: PushChallengeUserResponse { get set }
}

/// A question with a text.
public protocol CIBAChallengeProtocol: PushChallengeProtocol {
    /// The text of the question, with its details below it, each in a line, and then the data to be signed.
    ///
    /// Every question has one, not only those that were asked by CIBA: show it, since the answer signs it. The place,
    /// which is signed as well, is ``PushChallengeProtocol/clientLocation``. Until the question has been fetched this
    /// is the short message of the push.
    var cibaBindingMessage: String? { get }
}

/// The user's answer to a push.
public enum PushChallengeUserResponse: Sendable {
    /// None yet.
    case userNotResponded
    /// Yes.
    case userApproved
    /// No.
    case userDenied
}
