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

    /// The person of a sign-in by this device, which is trusted.
    func user(_ grant: Grant, _ userID: String) async -> CotterUser {
        CotterUser(
            id: grant.signedIn.identity.subject, issuer: issuer, identifier: await address(grant, type: "EMAIL"),
            clientUserID: userID, enrolled: [trustedDevice])
    }

    /// Who has signed in on the page, which need not be whom the app has suggested.
    func identity(_ grant: Grant, type: String, of userID: String?) async -> CotterIdentity {
        let (subject, address) = (grant.signedIn.identity.subject, await address(grant, type: type))
        return CotterIdentity(
            identifier: Identifier(id: subject, identifier: address ?? "", identifierType: type),
            user: CotterUser(id: subject, issuer: issuer, identifier: address, clientUserID: userID ?? ""),
            oauthToken: tokens(grant))
    }

    /// The address of whoever has signed in; nil where the server names none to this app, or cannot be asked.
    private func address(_ grant: Grant, type: String) async -> String? {
        let (scope, claim) = type == "PHONE" ? ("phone", "phone_number") : ("email", "email")
        guard grant.signedIn.scopes.contains(scope), let told = try? await parts().client.userInfo(),
            // Somebody else may have signed in since.
            told.subject == grant.signedIn.identity.subject
        else { return nil }
        return told.text(of: claim)
    }
}
