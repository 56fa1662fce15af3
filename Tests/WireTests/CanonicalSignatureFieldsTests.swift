import Crypto
import Testing

@testable import CountersignWire

/// A field in the usual form is read by hand, any other by the parser for structured fields.
///
/// A blank behind a field changes nothing of what it says and makes it one of the others: so both readers can be asked
/// about the same fields, and must say the same.
@Suite("RFC 9421 §4: fields in the usual form say what the parser for structured fields says they do")
struct CanonicalSignatureFieldsTests {
    private static let alphabet = Array(#"";= 0-\,:A("#.utf8)
    private let forge = SignatureForge()

    /// What reading two fields comes to, verification included.
    private func outcome(_ input: String, _ signature: String) -> Result<SignatureParameters, MessageSignatureError> {
        do throws(MessageSignatureError) {
            let read = try UnverifiedRequestSignature(input: input, signature: signature)
            try read.verify(SignatureForge.request, body: SignatureForge.body, by: forge.key.publicKey)
            return .success(read.parameters)
        } catch {
            return .failure(error)
        }
    }

    /// A text with one byte left out, put in or replaced, at every place.
    private func mutations(of text: String) -> [String] {
        let bytes = Array(text.utf8)
        var all: [[UInt8]] = []
        for place in bytes.indices {
            all.append(Array(bytes[..<place] + bytes[(place + 1)...]))
            all.append(Array(bytes[...place] + bytes[place...]))
            for byte in Self.alphabet {
                all.append(bytes[..<place] + [byte] + bytes[(place + 1)...])
                all.append(bytes[..<place] + [byte] + bytes[place...])
            }
        }
        return all.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("The form is the one that the SDK writes, and it verifies")
    func form() async throws {
        let parameters = SignatureParameters(created: 1_795_169_702, nonce: "abcdefghijklmnop", keyID: "enr_1")
        let fields = try await parameters.sign(SignatureForge.request, with: forge.key)
        #expect(CanonicalSignatureFields(input: fields.input, signature: fields.signature) != nil)
        #expect(CanonicalSignatureFields(input: fields.input + " ", signature: fields.signature) == nil)
        #expect(outcome(fields.input, fields.signature) == .success(parameters))
        #expect(outcome(fields.input + " ", fields.signature) == .success(parameters))
    }

    @Test("RFC 9651 §3.1.2: a label is a key, and one that is not is refused, whoever reads it")
    func labels() throws {
        let fields = try forge.fields()
        #expect(fields.input.hasPrefix("sig=") && fields.signature.hasPrefix("sig="))
        func pair(_ label: String) -> (input: String, signature: String) {
            (label + fields.input.dropFirst(3), label + fields.signature.dropFirst(3))
        }
        let expected = outcome(fields.input, fields.signature)
        // The last three are left to the parser.
        for (label, isByHand) in [
            ("a", true), ("sig1", true), ("a-b_c", true), ("z-", true), ("*a", false), ("a.b", false), ("a*", false),
        ] {
            let (input, signature) = pair(label)
            #expect((CanonicalSignatureFields(input: input, signature: signature) != nil) == isByHand, "\(label)")
            #expect(outcome(input, signature) == expected, "\(label)")
        }
        for label in ["", "Sig", "sIg", "1a", "-a", "_a", ".a", "a b", "é"] {
            let (input, signature) = pair(label)
            #expect(CanonicalSignatureFields(input: input, signature: signature) == nil, "\(label)")
            #expect(outcome(input, signature) == .failure(.malformed), "\(label)")
        }
    }

    @Test("Signature-Input changed in any one byte: one outcome, whoever reads it")
    func input() throws {
        let fields = try forge.fields()
        var byHand = 0
        for changed in mutations(of: fields.input) {
            if CanonicalSignatureFields(input: changed, signature: fields.signature) != nil { byHand += 1 }
            #expect(outcome(changed, fields.signature) == outcome(changed + " ", fields.signature), "\(changed)")
        }
        #expect(byHand > 500, "changes that leave the form do not test it")
    }

    @Test("Signature changed in any one byte: one outcome, whoever reads it")
    func signature() throws {
        let fields = try forge.fields()
        for changed in mutations(of: fields.signature) {
            #expect(outcome(fields.input, changed) == outcome(fields.input, changed + " "), "\(changed)")
        }
    }

    @Test(
        "A parameter in another place, twice, without a value or with one of another kind is read alike",
        arguments: [
            ";created=1;created=2", ";created=01", ";created=0", ";created=-1", ";created=1234567890123456",
            ";created=1.0", ";created", ";nonce=\"\"", ";nonce=token", ";nonce=\"a\\\"b\"", ";expires=1", ";tag=:aa==:",
            ";keyid=\"other\"", ";keyid=\"é\"", ";;", ";",
        ])
    func parameters(extra: String) throws {
        for parameters in [extra + SignatureForge.parameters, SignatureForge.parameters + extra, extra] {
            let fields = try forge.fields(SignatureForge.components, parameters)
            #expect(outcome(fields.input, fields.signature) == outcome(fields.input + " ", fields.signature))
        }
    }
}
