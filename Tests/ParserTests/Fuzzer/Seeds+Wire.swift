import CountersignCore
import CountersignWire
import Crypto
import Encodings
import Foundation
import JOSE
import OpenPGP

extension Seeds {
    private static let challenge = "chl_01m00000000000000000000001"
    private static let user = "usr_01m00000000000000000000002"
    private static let nonce = String(repeating: "5f", count: 32)

    /// A receipt with everything a receipt can have.
    static let receipt = """
        Countersign receipt v1
        issuer: https://login.example.com
        challenge: \(challenge)
        nonce: \(nonce)
        client: Acme Bank (cli_01m00000000000000000000003)
        user: \(user)
        device: 9A9B9C9D9E9FA0A1A2A3A4A5A6A7A8A9AAABACAD
        decision: approved
        method: confirm
        number: 471932
        type: payment
        context: Firefox on Windows, 203.0.113.7, Berlin
        asked: 2026-11-20T10:15:02Z
        answered: 2026-11-20T10:15:31Z
        detail: Amount = EUR 1,250.00
        detail: Payee = a = b
        signing-data: sha256:\(nonce)
        message:
        Pay EUR 1,250.00?

        - Zahlen Sie 1.250,00 €?
        """

    func writeBodies() async throws {
        try put(.json, "every-kind", #" {"a":[1,-2.5e3,{"b":"é😀\n\u00e9\ud83d\ude00"}],"c":true,"d":false,"e":null}"#)
        try put(
            .json, "numbers", "[0,-0,9223372036854775807,9223372036854775808,1e40]")
        try put(.json, "refused-too-deep", String(repeating: "[", count: 40) + String(repeating: "]", count: 40))
        try put(.json, "refused-name-twice", #"{"a":1,"\u0061":2}"#)
        try put(.json, "refused-half-a-pair", #""\ud83d""#)
        try put(.json, "refused-out-of-range", "1e999")
        let body = #"""
            {"v":1,"kind":"challenge","challenge":"\#(Self.challenge)","nonce":"\#(Self.nonce)",
            "issuer":"https://login.example.com","client":{"id":"cli_01m00000000000000000000003","name":"Acme Bank"},
            "user":"\#(Self.user)","enrollment":"enr_01m00000000000000000000004","type":"payment",
            "methods":["confirm","other"],"message":"Pay?","details":[{"label":"Amount","value":"EUR 1"}],
            "signing_data":"x","context":"Firefox","number_entry":6,"asked_at":"2026-11-20T10:15:02Z",
            "expires_at":"2026-11-20T10:17:02.123Z","locale":"de"}
            """#
        try put(.wireBodies, "challenge", body)
        try put(
            .wireBodies, "refused-challenge-of-version-2", body.replacingOccurrences(of: #""v":1"#, with: #""v":2"#))
        let device = #"{"name":"Phone","model":"M","system":"S 1","app":"A 1","storage":"software"}"#
        try put(.wireBodies, "device", device)
        try put(
            .wireBodies, "enrollment-request",
            #"{"ticket":"t","certificate":"AAAA","device":\#(device),"versions":[1,2]}"#)
        try put(.wireBodies, "answer", #"{"message":"AAAA"}"#)
        try put(.wireBodies, "custom-answer", #"{"message":"AAAA","custom_data":"AQ=="}"#)
        try put(.wireBodies, "answer-reply", #"{"state":"approved","payload":"welcome"}"#)
        try put(.wireBodies, "refused-answer-not-base64", #"{"message":"AAA"}"#)
        try put(.wireBodies, "method-change", #"{"message":"AAAA","authorization":"AQ==","ticket":"t"}"#)
        try put(
            .wireBodies, "methods",
            #"{"nonce":"\#(Self.nonce)","pin":{"state":"set","attempts_left":4,"policy":{"cost":15}},"biometric":true,"#
                + #""custom":[{"name":"phrase","registered":true}]}"#
        )
        try put(.wireBodies, "pin-policy", #"{"min_length":6,"blocked":["471932"],"at_limit":"remove"}"#)
        try put(.wireBodies, "refused-pin-policy-too-cheap", #"{"cost":14}"#)
        try put(.wireBodies, "status", #"{"state":"denied","reason":"reported"}"#)
        try put(
            .wireBodies, "challenge-by-a-link",
            body.replacingOccurrences(
                of: #","locale""#, with: #","claimed":true,"return_uri":"com.example:/","locale""#))
        try put(.wireBodies, "detail", #"{"label":"Amount","value":"EUR 1"}"#)
        let certificate = try await Certificate.make(
            primary: FixedKeys.primary, flags: [.certify, .sign], userID: "Issuer <issuer@example.com>",
            subkeys: [.encryption(FixedKeys.encryption.publicKey)], at: FixedKeys.time)
        let reply = JSONValue.members([
            "enrollment": "enr_01m00000000000000000000004", "user": .string(Self.user),
            "server_certificate": .string(certificate.armored),
            "push_keys": JWKSet([JWK(FixedKeys.json.publicKey)]).json,
        ])
        try put(.wireBodies, "enrollment-reply", reply.encoded)
        try put(.serverBodies, "type", ChallengeType.confirm.json.encoded)
        try put(.serverBodies, "type-of-defaults", "{}")
        let hook = "https://a.example/h"
        try put(.serverBodies, "authenticator", #"{"name":"phrase","hook":"\#(hook)","deadline":1,"attempts":10}"#)
        try put(.serverBodies, "verdict", #"{"result":"retry","payload":"colder"}"#)
        try put(.serverBodies, "refused-unknown-member", #"{"colour":"red"}"#)
        try await writePush()
    }

    private func writePush() async throws {
        guard let issuer = Parser.pushIssuer, let type = TypeName("payment") else { return }
        let time = Timestamp(seconds: Int64(FixedKeys.time))
        let envelope = PushEnvelope(
            issuer: issuer, enrollment: Parser.pushEnrollment,
            challenge: ChallengeID(at: time, random: [UInt8](repeating: 1, count: 10)), challengeType: type,
            issuedAt: time, expiresAt: time.adding(seconds: 120), alert: PushAlert(title: "Acme Bank", body: "Pay?"))
        let key = JWK(FixedKeys.json.publicKey)
        let payload = try await envelope.signed(
            by: FixedKeys.json, keyID: key.thumbprint, category: .review, badge: 1
        ).payload.encoded
        try put(.pushEnvelope, "payload", payload)
        try put(
            .pushEnvelope, "refused-other-alert",
            String(decoding: payload, as: UTF8.self).replacingOccurrences(of: "Pay?", with: "Play?"))
    }

    func writeTexts() async throws {
        let body = Array(#"{"message":"AAAA"}"#.utf8)
        for (name, body) in [("with-body", body), ("without-body", [])] {
            let digest = body.isEmpty ? nil : ContentDigest.field(for: body)
            let request = SignedRequest(
                method: "POST", targetURI: Parser.signedURI, contentDigest: digest, authorization: nil)
            let parameters = SignatureParameters(
                created: Int64(FixedKeys.time), nonce: "abcdefghijklmnop", keyID: "enr_01m00000000000000000000004")
            let (input, signature) = try await parameters.sign(request, with: FixedKeys.http)
            let fields = "\(input)\n\(signature)\n\(digest ?? "")\n"
            try put(.httpSignature, name, Array(fields.utf8) + body)
            if body.isEmpty { continue }
            try put(.httpSignature, "refused-other-body", Array(fields.utf8) + body + [0x20])
            try put(.httpSignature, "refused-other-tag", fields.replacingOccurrences(of: #"tag="c"#, with: #"tag="d"#))
            try put(
                .httpSignature, "refused-two-signatures",
                "\(input), b=();tag=\"x\"\n\(signature), b=:AAAA:\n\n")
        }
        try put(.receipt, "full", Self.receipt)
        let denied = Self.receipt.split(separator: "\n", omittingEmptySubsequences: false)
            .filter { !$0.hasPrefix("method") && !$0.hasPrefix("number") }.joined(separator: "\n")
        try put(.receipt, "denied", denied.replacingOccurrences(of: "approved", with: "denied"))
        try put(
            .receipt, "custom",
            Self.receipt.replacingOccurrences(
                of: "method: confirm\nnumber: 471932\n",
                with: "method: custom:phrase\nnumber: 471932\ncustom-data: sha256:\(Self.nonce)\n"))
        try put(
            .receipt, "refused-denied-with-method", Self.receipt.replacingOccurrences(of: "approved", with: "denied"))
        try put(.receipt, "refused-other-order", Self.receipt.replacingOccurrences(of: "type: payment\n", with: ""))
        let change = """
            Countersign change v1
            issuer: https://login.example.com
            enrollment: enr_01m00000000000000000000004
            nonce: \(Self.nonce)
            method: pin
            old: 9A9B9C9D9E9FA0A1A2A3A4A5A6A7A8A9AAABACAD
            new: 0A9B9C9D9E9FA0A1A2A3A4A5A6A7A8A9AAABACAD
            certificate: AQID
            """
        try put(.methodChange, "replaced", change)
        let custom = """
            Countersign change v1
            issuer: https://login.example.com
            enrollment: enr_01m00000000000000000000004
            nonce: \(Self.nonce)
            method: custom:phrase
            """
        try put(.methodChange, "registered", custom + "\ncustom-data: sha256:\(Self.nonce)")
        try put(.methodChange, "given-up", custom)
        try put(.methodChange, "custom-data", "Countersign custom data v1\ndata: Y29ycmVjdCBob3JzZQ==")
        try put(.methodChange, "refused-nothing-changes", change.replacingOccurrences(of: "old: 9", with: "old: 0"))
        let invitation = #"""
            {"issuer":"https://login.example.com","ticket":"ticket","fingerprint":
            "9A9B9C9D9E9FA0A1A2A3A4A5A6A7A8A9AAABACAD","user":"\#(Self.user)",
            "enrollment":"enr_01m00000000000000000000004"}
            """#
        try put(.invitation, "whole", Base64.encode(Array(invitation.utf8)))
        try put(.invitation, "refused-not-base64", invitation)
        try put(
            .invitation, "refused-no-ticket",
            Base64.encode(Array(invitation.replacingOccurrences(of: "ticket", with: "tickets").utf8)))
        let code = #"{"transaction_id":"\#(Self.challenge)","otp":"qr.one-time"}"#
        try put(.challengeCode, "whole", Base64.encode(Array(code.utf8)))
        let issuer = "https://login.example.com"
        try put(.challengeCode, "refused-link-of-a-picture", "\(issuer)/q#\(Base64URL.encode(Array(code.utf8)))")
        let link = code.replacingOccurrences(of: "qr.", with: "link.")
        try put(.challengeCode, "link", "\(issuer)/q#\(Base64URL.encode(Array(link.utf8)))")
        try put(.challengeCode, "refused-picture-of-a-link", Base64.encode(Array(link.utf8)))
        try put(.challengeCode, "refused-not-base64", code)
        try put(
            .challengeCode, "refused-more",
            Base64.encode(Array(code.replacingOccurrences(of: "}", with: ",\"x\":1}").utf8)))
        for (name, text) in [
            ("issuer", "https://login.example.com:8443"), ("issuer-ipv6", "http://[::1]:8080"),
            ("challenge-id", Self.challenge), ("nonce", Self.nonce), ("time", "2026-11-20T10:15:02.123Z"),
            ("number", "471932"), ("base64", "AQ=="), ("base64url", "_-8"), ("message", "a\n\nb ä 😀"),
            ("refused-direction", "a\u{202E}b "), ("refused-not-composed", "e\u{301} "),
            ("refused-surrogate-in-utf8", ""),
        ] {
            try put(.values, name, name.hasSuffix("utf8") ? [0xED, 0xA0, 0x80, 0x20] : Array(text.utf8))
        }
    }
}
