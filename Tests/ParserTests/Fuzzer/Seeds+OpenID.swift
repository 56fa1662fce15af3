import CountersignWire
import Crypto
import Encodings
import JOSE

extension Seeds {
    private static let time = Int64(FixedKeys.time)

    /// What a client signs of its request: the header, and then the claims. The property signs them.
    func writeRequestObjects() throws {
        let times = #""nbf":\#(Self.time),"exp":\#(Self.time + 3600)"#
        let ids = #""iss":"\#(Parser.client)","client_id":"\#(Parser.client)""#
        let issuer = "https://login.example.com"
        let claims = #"{\#(ids),"aud":"\#(issuer)",\#(times),"response_type":"code","scope":"openid"}"#
        func put(_ name: String, _ claims: String, under header: String = #"{"alg":"ES256"}"#) throws {
            try self.put(.requestObject, name, "\(header)\n\(claims)")
        }
        try put("plain", claims)
        try put("typed", claims, under: #"{"alg":"ES256","typ":"oauth-authz-req+jwt","kid":"\#(Parser.jwsKeyID)"}"#)
        try put(
            "members-of-every-kind",
            #"{\#(ids),"aud":["https://other.example","\#(issuer)"],\#(times),"max_age":0,"resource":["a:b","c:d"],"#
                + #""claims":{"id_token":{"acr":{"essential":true}}},"jti":"a"}"#)
        try put("refused-another-kind", claims, under: #"{"alg":"ES256","typ":"client-authentication+jwt"}"#)
        try put("refused-unsigned", claims, under: #"{"alg":"none"}"#)
        try put("refused-critical", claims, under: #"{"alg":"ES256","crit":["b64"],"b64":false}"#)
        try put("refused-other-issuer", #"{\#(ids),"aud":"https://other.example",\#(times)}"#)
        try put("refused-authenticates", #"{\#(ids),"aud":"\#(issuer)",\#(times),"sub":"\#(Parser.client)"}"#)
        try put("refused-within-another", #"{\#(ids),"aud":"\#(issuer)",\#(times),"request":"a.b.c"}"#)
        try put("refused-for-ever", #"{\#(ids),"aud":"\#(issuer)","nbf":0,"exp":\#(Int64.max)}"#)
        try put("refused-no-times", #"{\#(ids),"aud":"\#(issuer)"}"#)
    }

    /// What a client signs to show that it has a key: the header, and then the claims. The property signs them.
    func writeProofs() throws {
        let key = String(decoding: JWK(FixedKeys.json.publicKey).json.encoded, as: UTF8.self)
        let header = #"{"alg":"ES256","jwk":\#(key),"typ":"dpop+jwt"}"#
        func claims(
            method: String = "POST", uri: String = Parser.tokenURI, at time: Int64 = Self.time,
            nonce: String = Parser.proofNonce, and more: String = ""
        ) -> String {
            #"{"jti":"a","htm":"\#(method)","htu":"\#(uri)","iat":\#(time),"nonce":"\#(nonce)"\#(more)}"#
        }
        func put(_ name: String, _ claims: String, under other: String? = nil) throws {
            try self.put(.dpopProof, name, "\(other ?? header)\n\(claims)")
        }
        try put("plain", claims())
        try put("with-token", claims(and: #","ath":"\#(KeyProof.hash(of: Parser.accessToken))""#))
        try put("with-times", claims(and: #","nbf":\#(Self.time),"exp":\#(Self.time + 60)"#))
        try put("other-spelling", claims(uri: "HTTPS://Login.Example.com:443/oauth2/token?a#b"))
        try put("refused-method", claims(method: "post"))
        try put("refused-place", claims(uri: "https://login.example.com/oauth2/token/"))
        try put("refused-old", claims(at: Self.time - 61))
        try put("refused-over", claims(and: #","exp":\#(Self.time)"#))
        try put("refused-other-nonce", claims(nonce: "other"))
        try put("refused-no-name", #"{"htm":"POST","htu":"\#(Parser.tokenURI)","iat":\#(Self.time)}"#)
        try put("refused-another-kind", claims(), under: header.replacing("dpop+jwt", with: "JWT"))
        try put("refused-unsigned", claims(), under: header.replacing("ES256", with: "none"))
        try put("refused-private-key", claims(), under: header.replacing(#""kty""#, with: #""d":"AAAA","kty""#))
        try put("refused-symmetric-key", claims(), under: header.replacing(key, with: #"{"kty":"oct","k":"AAAA"}"#))
        try put("refused-no-key", claims(), under: #"{"alg":"ES256","typ":"dpop+jwt"}"#)
    }

    /// Keys in the forms of Cotter's libraries.
    func writeEventKeys() throws {
        let curve = Base64.encode(Array(FixedKeys.json.publicKey.derRepresentation))
        let edwards = [UInt8](repeating: 0, count: 31) + [0x40]
        try put(.eventKey, "p256", curve)
        try put(.eventKey, "p256-64", "\(curve.prefix(64))\n\(curve.dropFirst(64))\n")
        try put(.eventKey, "refused-empty", "")
        try put(.eventKey, "refused-pin", "123456")
        try put(.eventKey, "refused-cut-off", String(curve.dropLast(8)))
        try put(.eventKey, "refused-base64url", Base64.encode(edwards).replacing("A", with: "_"))
        try put(.eventKey, "refused-small-order", Base64.encode([1] + [UInt8](repeating: 0, count: 31)))
    }

    /// What a device signs that has JWKs: the header, and then the claims. The property signs them.
    func writeJWTAnswers() throws {
        let header = #"{"alg":"ES256","typ":"okta-pushbind+jwt","kid":"\#(Parser.jwsKeyID)"}"#
        let ids =
            #""iss":"enr_01m00000000000000000000003","aud":"https://login.example.com","#
            + #""sub":"usr_01m00000000000000000000003","tx":"chl_01m00000000000000000000003","#
            + #""nonce":"\#(String(repeating: "0a", count: 32))","jti":"a""#
        func claims(_ consent: String, key: String = "proofOfPossession", until end: Int64 = 300) -> String {
            #"{\#(ids),"iat":\#(Self.time),"exp":\#(Self.time + end),"keyType":"\#(key)","#
                + #""challengeResponseContext":{"userConsent":"\#(consent)"}}"#
        }
        func put(_ name: String, _ claims: String, under other: String? = nil) throws {
            try self.put(.jwtAnswer, name, "\(other ?? header)\n\(claims)")
        }
        try put("approved", claims("APPROVED_CONSENT_PROMPT"))
        try put("denied", claims("DENIED_CONSENT_PROMPT"))
        try put("undecided", claims("NONE"))
        try put("refused-consent", claims("YES"))
        try put("refused-another-key", claims("APPROVED_USER_VERIFICATION", key: "userVerification"))
        try put("refused-too-long", claims("DENIED_CONSENT_PROMPT", until: 601))
        try put("refused-no-claims", "{}")
        try put("refused-another-kind", claims("NONE"), under: header.replacing("okta-pushbind+jwt", with: "JWT"))
        try put("refused-unsigned", claims("NONE"), under: header.replacing("ES256", with: "none"))
        try put("refused-unknown-key", claims("NONE"), under: #"{"alg":"ES256","typ":"okta-pushbind+jwt"}"#)
    }

    /// What people make of a code that stands on a screen.
    func writeUserCodes() throws {
        try put(.userCode, "as-shown", "WDJB-MJHT")
        try put(.userCode, "small-letters", "wdjb mjht")
        try put(.userCode, "separated", "W.D.J.B\u{2013}M.J.H.T\n")
        try put(.userCode, "refused-short", "WDJB-MJH")
        try put(.userCode, "refused-more", "WDJB-MJHTX")
        try put(.userCode, "refused-vowel", "WDJA-MJHT")
        try put(.userCode, "refused-digit", "WDJB-MJH1")
        try put(.userCode, "refused-long", "WDJB-MJHT" + String(repeating: " ", count: 60))
    }
}
