import Countersign

extension Backing {
    /// The tokens of a sign-in.
    func tokens(_ grant: Grant) -> CotterOAuthToken {
        CotterOAuthToken(
            accessToken: grant.token.reveal(),
            authMethod: grant.signedIn.identity.amr.contains("otp") ? AuthMethod.otp.rawValue : trustedDevice,
            expiresIn: Int(max(0, grant.token.expiresAt - settings.clock.millisecondsSince1970) / 1000), idToken: "",
            refreshToken: "", tokenType: grant.token.isBound ? "DPoP" : "Bearer")
    }

    /// The person of a sign-in.
    func user(_ grant: Grant, _ userID: String, isTrusted: Bool) -> CotterUser {
        CotterUser(
            id: grant.signedIn.identity.subject, issuer: issuer, identifier: settings.signInName(userID),
            clientUserID: userID, enrolled: isTrusted ? [trustedDevice] : nil)
    }

    /// Who has signed in on the page.
    func identity(_ grant: Grant, _ address: String, type: String, of userID: String?) -> CotterIdentity {
        let subject = grant.signedIn.identity.subject
        return CotterIdentity(
            identifier: Identifier(
                id: subject, identifier: grant.signedIn.identity.email ?? address, identifierType: type),
            user: CotterUser(
                id: subject, issuer: issuer, identifier: grant.signedIn.identity.email ?? address,
                clientUserID: userID ?? ""), oauthToken: tokens(grant))
    }
}
