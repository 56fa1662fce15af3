import CountersignWire
import Crypto
import Encodings
import OpenPGP
import Testing

@Suite("Signatures outside the profile")
struct MessageSignatureRefusalTests {
    private static let list = #"("@method" "@target-uri" "content-digest" "authorization")"#
    private let forge = SignatureForge()

    @Test("A request with neither, or only one, of the two fields is not signed")
    func missing() throws {
        let fields = try forge.fields()
        for (input, signature) in [(nil, nil), (fields.input, nil), (nil, fields.signature)] as [(String?, String?)] {
            #expect(throws: MessageSignatureError.missing) {
                try UnverifiedRequestSignature(input: input, signature: signature)
            }
        }
    }

    @Test(
        "RFC 9421 §4.1: a Signature-Input that is no dictionary with one list of plain strings is refused",
        arguments: [
            "sig", "sig=1", "sig=\"@method\"", "sig=(", "sig=()", "()", "=()", "Sig=(\"@method\")",
            "sig=(\"@method\" \"@target-uri\")x", "sig=(@method)", "sig=(method)", "sig=(1 2)",
            "sig=(\"@method\",\"@target-uri\")", "sig=(\"@method\"\"@target-uri\")", "sig=(\"@m\u{E9}thod\")",
            "sig=(\"@method\"", "sig=((\"@method\"))", "sig=:AAAA:", "other=LIST",
            "sig=(\"@method\";req \"@target-uri\" \"content-digest\" \"authorization\")PARAMETERS",
            "sig=(\"@method\" \"@target-uri\" \"content-digest\";sf \"authorization\")PARAMETERS",
            "sig=(\"@method\" \"@target-uri\" \"content-digest\";bs \"authorization\")PARAMETERS",
        ])
    func malformedInput(input: String) throws {
        let fields = try forge.fields()
        let input = input.replacing("PARAMETERS", with: SignatureForge.parameters)
            .replacing("LIST", with: Self.list + SignatureForge.parameters)
        let expected: MessageSignatureError = input == "sig=()" ? .parameter("tag") : .malformed
        #expect(throws: expected) { try UnverifiedRequestSignature(input: input, signature: fields.signature) }
    }

    @Test(
        "RFC 9421 §3.3.4, §4.2: a Signature that is no dictionary with one signature of 64 bytes in base 64 is refused")
    func malformedSignature() throws {
        let fields = try forge.fields()
        let text = String(fields.signature.dropFirst(5).dropLast())
        let raw = try #require(Base64.decode(text))
        let der = try P256.Signing.ECDSASignature(rawRepresentation: raw).derRepresentation
        let values = [
            "sig=\(text)", "sig=\"\(text)\"", "sig=:\(text)", "sig=(:\(text):)", "sig=::", "sig", "other=:\(text):",
            "sig=:\(Base64.encode(raw.dropLast())):", "sig=:\(Base64.encode(raw + [0])):",
            "sig=:\(Base64.encode(der)):",
            "sig=:\(text.dropLast(2)):", "sig=:\(text.dropLast()):", "sig=:\(Base64URL.encode(raw))_-:",
            "sig=:\(text.dropLast(3))B==:", "sig=:\(Hex.encode(raw)):",
        ]
        for value in values {
            #expect(throws: MessageSignatureError.malformed, "\(value)") {
                try UnverifiedRequestSignature(input: fields.input, signature: value)
            }
        }
    }

    @Test("Exactly one signature: none or two in either field are refused")
    func several() throws {
        let fields = try forge.fields()
        let (input, signature) = fields
        let twice = (
            "\(input), two=\(input.dropFirst(4))", "\(signature), two=\(signature.dropFirst(4))"
        )
        for (input, signature) in [
            twice, (twice.0, signature), (input, twice.1), ("", signature), (input, ""), ("", ""), (" ", " "),
        ] {
            #expect(throws: MessageSignatureError.several) {
                try UnverifiedRequestSignature(input: input, signature: signature)
            }
        }
    }

    @Test(
        "A parameter that is missing, unknown or not the profile's is refused by its name",
        arguments: [
            ("tag", #";tag="countersign""#, ""), ("tag", "\"countersign\"", "\"other\""),
            ("tag", "\"countersign\"", "countersign"), ("tag", "\"countersign\"", "\"Countersign\""),
            ("alg", #";alg="ecdsa-p256-sha256""#, ""), ("alg", "\"ecdsa-p256-sha256\"", "\"hmac-sha256\""),
            ("alg", "\"ecdsa-p256-sha256\"", "\"ecdsa-p384-sha384\""), ("alg", "\"ecdsa-p256-sha256\"", "\"none\""),
            ("alg", "\"ecdsa-p256-sha256\"", "ecdsa-p256-sha256"), ("alg", "ecdsa-p256-sha256", "ECDSA-P256-SHA256"),
            ("created", ";created=1795169702", ""), ("created", "=1795169702", ""), ("created", "1795169702", "-1"),
            ("created", "1795169702", "1795169702.0"), ("created", "1795169702", "\"1795169702\""),
            ("created", "1795169702", "@1795169702"), ("created", "1795169702", "?1"),
            ("nonce", ";nonce=\"abcdefghijklmnop\"", ""), ("nonce", "\"abcdefghijklmnop\"", "\"abcdefghijklmno\""),
            ("nonce", "\"abcdefghijklmnop\"", "abcdefghijklmnop"), ("nonce", "\"abcdefghijklmnop\"", "\"\""),
            ("nonce", "abcdefghijklmnop", "0123456789012345678901234567890123456789012345678901234567890123x"),
            ("keyid", ";keyid=\"enr_1\"", ""), ("keyid", "\"enr_1\"", "enr_1"), ("keyid", "\"enr_1\"", "1"),
            ("expires", ";tag=", ";expires=1795169802;tag="), ("x", ";tag=", ";x;tag="),
            ("created-at", ";tag=", ";created-at=1;tag="),
        ])
    func parameters(name: String, old: String, new: String) throws {
        #expect(SignatureForge.parameters.contains(old))
        let fields = try forge.fields(SignatureForge.components, SignatureForge.parameters.replacing(old, with: new))
        #expect(throws: MessageSignatureError.parameter(name)) { try forge.verify(fields) }
    }

    @Test("Nonces of 16 and of 64 characters are within bounds", arguments: [16, 64])
    func nonceLengths(length: Int) throws {
        let nonce = String(repeating: "~", count: length)
        let parameters = SignatureForge.parameters.replacing("abcdefghijklmnop", with: nonce)
        try forge.verify(try forge.fields(SignatureForge.components, parameters))
    }

    @Test("RFC 9651 §3.3.1: the latest time a signature can name is read without overflow, a later one is not")
    func latest() throws {
        func read(_ created: String) throws -> UnverifiedRequestSignature {
            let parameters = SignatureForge.parameters.replacing("1795169702", with: created)
            let fields = try forge.fields(SignatureForge.components, parameters)
            return try UnverifiedRequestSignature(input: fields.input, signature: fields.signature)
        }
        let created = try read("999999999999999").parameters.created
        #expect(Timestamp(seconds: created).adding(seconds: 3600).seconds == 1_000_000_000_003_599)
        #expect(throws: MessageSignatureError.malformed) { try read("1000000000000000") }
        #expect(throws: MessageSignatureError.malformed) { try read("9223372036854775807") }
    }

    @Test("RFC 9651 §4.2.3.2: of a parameter that stands twice the last counts, and only once in the base")
    func twice() throws {
        let fields = try forge.fields()
        let doubled = fields.input.replacing(";created=1795169702", with: ";created=1;created=1795169702")
        let read = try UnverifiedRequestSignature(input: doubled, signature: fields.signature)
        #expect(read.parameters.created == 1_795_169_702)
        let other = fields.input.replacing(";created=1795169702", with: ";created=1795169702;created=1")
        #expect(throws: MessageSignatureError.invalid) { try forge.verify((other, fields.signature)) }
    }

    @Test("A component that must be covered and is not is refused by its name", arguments: 0..<4)
    func uncovered(index: Int) throws {
        var components = SignatureForge.components
        let name = components.remove(at: index).0
        let fields = try forge.fields(components)
        #expect(throws: MessageSignatureError.coverage(name)) { try forge.verify(fields) }
    }

    @Test(
        "A component that is covered and must not be is refused by its name",
        arguments: [
            ("@authority", "login.example.com"), ("@path", "/v1/challenges/pending"), ("@query", "?wait=20"),
            ("host", "login.example.com"), ("content-type", "application/json"), ("@Method", "POST"), ("", ""),
            ("@signature-params", ""), ("Authorization", "Bearer abc"), ("x-forwarded-host", "evil.example.com"),
        ])
    func overcovered(name: String, value: String) throws {
        let fields = try forge.fields(SignatureForge.components + [(name, value)])
        #expect(throws: MessageSignatureError.coverage(name)) { try forge.verify(fields) }
    }

    @Test("A signature that covers a body or an authorization is refused where the request has none")
    func absentComponents() throws {
        let fields = try forge.fields()
        let withoutAuthorization = SignedRequest(
            method: "POST", targetURI: SignatureForge.request.targetURI, contentDigest: SignatureForge.digest,
            authorization: nil)
        #expect(throws: MessageSignatureError.coverage("authorization")) {
            try forge.verify(fields, withoutAuthorization)
        }
        let withoutDigest = SignedRequest(
            method: "POST", targetURI: SignatureForge.request.targetURI, contentDigest: nil,
            authorization: "Bearer abc")
        #expect(throws: MessageSignatureError.coverage("content-digest")) {
            try forge.verify(fields, withoutDigest, body: [])
        }
    }

    @Test("RFC 9421 §2: a component stands once", arguments: 0..<4)
    func doubled(index: Int) throws {
        let fields = try forge.fields(SignatureForge.components + [SignatureForge.components[index]])
        #expect(throws: MessageSignatureError.malformed) { try forge.verify(fields) }
    }

    @Test("A change of any bit of the signature is refused")
    func everyByte() throws {
        let fields = try forge.fields()
        let raw = try #require(Base64.decode(fields.signature.dropFirst(5).dropLast()))
        for index in raw.indices {
            var other = raw
            other[index] ^= 1 << UInt8(index % 8)
            #expect(throws: MessageSignatureError.invalid, "byte \(index)") {
                try forge.verify((fields.input, "sig=:\(Base64.encode(other)):"))
            }
        }
        for byte in [0, 255] as [UInt8] {
            let other = Base64.encode([UInt8](repeating: byte, count: 64))
            #expect(throws: MessageSignatureError.invalid) { try forge.verify((fields.input, "sig=:\(other):")) }
        }
    }
}
