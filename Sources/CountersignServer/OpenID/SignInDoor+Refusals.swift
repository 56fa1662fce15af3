import CountersignCore
import CountersignWire
import Logging

extension SignInDoor {
    /// Writes into the log that somebody was not signed in, and counts it.
    ///
    /// Nothing is written to the database: anybody could fill it, and the statements would tell who is known. A line names
    /// nobody, has no code and no address, and is the same for a person whom nobody knows. A request has one at most. A
    /// sign-in that ends well is in the audit, by the same id.
    ///
    /// Spec: OWASP ASVS 16.3.1.
    ///
    /// - Parameters:
    ///   - reason: why.
    ///   - way: how the person wanted to sign in; nil where it is not known any more.
    ///   - client: where; nil where the person is on their account page.
    ///   - signIn: the sign-in; nil before there is one.
    ///   - visit: the browser's visit.
    func note(
        _ reason: RefusedSignIns.Reason, by way: SignInWay? = nil, at client: ClientID? = nil,
        for signIn: AuthorizationID? = nil, _ visit: Visit
    ) {
        ports.refusedSignIns.note(reason)
        var metadata: Logger.Metadata = [
            "request": "\(visit.incoming.context.requestID)", "code": "\(reason.rawValue)",
        ]
        metadata["way"] = way.map { "\($0.rawValue)" }
        metadata["client"] = client.map { "\($0)" }
        metadata["authorization"] = signIn.map { "\($0)" }
        ports.logger.notice("sign-in refused", metadata: metadata)
    }
}

extension PersonalAddress {
    /// The way to sign in by a code that is sent to it.
    var way: SignInWay {
        switch self {
        case .email: .email
        case .phone: .text
        }
    }
}
