import CountersignWire
import Crypto
import Encodings
import OpenPGP

extension Parser {
    static let signedURI = "https://login.example.com/v1/challenges/pending?wait=20"

    /// The fields of a signed HTTP request, a line each: `Signature-Input`, `Signature`, `Content-Digest` or nothing;
    /// then the body.
    static let httpSignature = Parser("http-signature", memoryPerByte: 256) { input in
        let lines = input.split(separator: 0x0A, maxSplits: 3, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        let body = Array((lines.count > 3 ? lines[3] : "").utf8)
        let digest = lines.count > 2 && !lines[2].isEmpty ? lines[2] : nil
        if let digest, ContentDigest.matches(digest, body: body) {
            let text = Base64.encode(Array(SHA256.hash(data: body)))
            try expect(digest.contains(text), "a digest matches that is not there")
        }
        let request = SignedRequest(
            method: "POST", targetURI: signedURI, contentDigest: digest, authorization: nil)
        let outcome = verified(input: lines[0], signature: lines.count > 1 ? lines[1] : nil, of: request, body: body)
        // The form most write is read by hand, and a blank at the end sends it to the parser for structured fields.
        let again = verified(
            input: lines[0] + " ", signature: lines.count > 1 ? lines[1] : nil, of: request, body: body)
        try expect(outcome == again, "two readers of one signature say \(outcome) and \(again)")
        guard case .success(let parameters) = outcome else { return .refused }
        try expect(
            parameters.created >= 0 && (16...64).contains(parameters.nonce.utf8.count),
            "a signature is verified that the profile refuses")
        return .read
    }

    private static func verified(
        input: String, signature: String?, of request: SignedRequest, body: [UInt8]
    ) -> Result<SignatureParameters, MessageSignatureError> {
        do throws(MessageSignatureError) {
            let signature = try UnverifiedRequestSignature(input: input, signature: signature)
            try signature.verify(request, body: body, by: FixedKeys.http.publicKey)
            return .success(signature.parameters)
        } catch {
            return .failure(error)
        }
    }

    /// The text of receipts.
    static let receipt = Parser("receipt", memoryPerByte: 256) { input in
        let text = String(decoding: input, as: UTF8.self)
        let receipt: Receipt
        do throws(ReceiptError) { receipt = try Receipt(parsing: text) } catch { return .refused }
        try expect(receipt.text.hasSameBytes(as: text), "a receipt has two spellings")
        try expect(try again("a receipt") { try Receipt(parsing: receipt.text) } == receipt, "a receipt changes")
        return .read
    }

    /// The texts of changes of a device's methods, and of what custom authenticators judge: no text is two of them.
    static let methodChange = Parser("method-change", memoryPerByte: 256) { input in
        let text = String(decoding: input, as: UTF8.self)
        let written = [
            MethodChange(text).map(\.text), AuthenticatorChange(text).map(\.text),
            CustomData(parsing: text).map(\.text),
        ].compactMap { $0 }
        guard let first = written.first else { return .refused }
        try expect(written.count == 1, "a text is two kinds of change")
        try expect(first.hasSameBytes(as: text), "a change has two spellings")
        return .read
    }

    /// The content of QR codes of challenges, and links to them.
    static let challengeCode = Parser("challenge-code") { input in
        guard let issuer = Issuer("https://login.example.com") else { preconditionFailure("an issuer") }
        let text = String(decoding: input, as: UTF8.self)
        if let code = ChallengeCode(link: text, to: issuer) {
            let link = code.link(to: issuer)
            let again = try again("a link") { ChallengeCode(link: link, to: issuer) }
            try expect(again.text.hasSameBytes(as: code.text), "a link says something else")
            return .read
        }
        guard let code = ChallengeCode(text) else { return .refused }
        let again = try again("a code") { ChallengeCode(code.text) }
        try expect(again.text.hasSameBytes(as: code.text), "a code changes")
        try expect(again.challenge == code.challenge && again.otp.isSame(as: code.otp), "a code says something else")
        return .read
    }

    /// The content of QR codes and links that enroll a device.
    static let invitation = Parser("invitation") { input in
        guard let invitation = EnrollmentInvitation(String(decoding: input, as: UTF8.self)) else { return .refused }
        let again = try again("an invitation") { EnrollmentInvitation(invitation.text) }
        try expect(again.text.hasSameBytes(as: invitation.text), "an invitation changes")
        return .read
    }

    /// Forms and queries.
    static let form = Parser("form", memoryPerByte: 256) { input in
        guard let fields = FormText.fields(in: String(decoding: input, as: UTF8.self)) else { return .refused }
        let written = FormText.encoded(fields.map { ($0.name, $0.value) })
        let again = try again("a form") { FormText.fields(in: written) }
        try expect(
            again.elementsEqual(fields) { $0.name.hasSameBytes(as: $1.name) && $0.value.hasSameBytes(as: $1.value) },
            "a form changes when it is written")
        return .read
    }

    /// Values that have exactly one spelling, and texts that may be shown.
    static let values = Parser("values", memoryPerByte: 256) { input in
        let text = String(decoding: input, as: UTF8.self)
        let isText = text.utf8.elementsEqual(input)
        try expect((String(strictUTF8: input) != nil) == isText, "UTF-8 is told apart in two ways")
        let spellings: [(String, String?)] = [
            ("base 64", Base64.decode(text).map { Base64.encode($0) }),
            ("base64url", Base64URL.decode(text).map { Base64URL.encode($0) }),
            ("base 32", CrockfordBase32.decode(text).map(CrockfordBase32.encode)),
            ("a challenge id", ChallengeID(text)?.description), ("an enrollment id", EnrollmentID(text)?.description),
            ("an issuer", Issuer(text)?.description), ("a type's name", TypeName(text)?.description),
            ("a nonce", Nonce(text)?.description), ("a number", EntryNumber(text)?.digits),
            ("a time", Timestamp(text).map { text.utf8.count == 20 ? $0.secondsDescription : $0.description }),
            ("a line", (try? DisplayLine(text))?.text), ("a message", (try? DisplayMessage(text))?.text),
            ("a name", (try? ClientName(text))?.text), ("hexadecimal", Hex.decode(text).map { Hex.encode($0) }),
        ]
        for (what, spelling) in spellings {
            guard let spelling else { continue }
            try expect(spelling.hasSameBytes(as: text), "\(what) has two spellings")
        }
        return spellings.contains { $0.1 != nil } ? .read : .refused
    }
}
