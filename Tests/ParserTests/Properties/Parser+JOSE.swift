import Crypto
import Encodings
import JOSE

extension Parser {
    static let jwsType = "fuzzing+jwt"
    static let jwsKeyID = "fuzzing"
    static let jwsKeys = JWKSet([JWK(.p256(FixedKeys.json.publicKey), keyID: jwsKeyID)])

    private static func verified(_ text: String) throws(JOSEError) -> [UInt8] {
        try JWS.verify(text, algorithms: [.es256, .rs256], type: .exactly(jwsType), keys: jwsKeys).payload
    }

    /// Compact JWS.
    static let jws = Parser("jws") { input in
        let text = String(decoding: input, as: UTF8.self)
        let payload: [UInt8]
        do throws(JOSEError) {
            payload = try verified(text)
        } catch {
            return .refused
        }
        try expect(
            text.split(separator: ".", omittingEmptySubsequences: false).count == 3
                && text.contains(".\(Base64URL.encode(payload))."),
            "the content of a JWS is not the one that was signed")
        return .read
    }

    /// The header of a JWS whose signature is right: the first line of the input, the rest is the content.
    static let jwsHeader = Parser("jws-header") { input in
        let end = input.firstIndex(of: 0x0A) ?? input.endIndex
        let payload = Array(input[end...].dropFirst())
        let signed = "\(Base64URL.encode(input[..<end])).\(Base64URL.encode(payload))"
        let signature = try again("a key") { try FixedKeys.json.signature(for: SHA256.hash(data: Array(signed.utf8))) }
        let text = "\(signed).\(Base64URL.encode(signature.rawRepresentation))"
        let read: [UInt8]
        do throws(JOSEError) { read = try verified(text) } catch { return .refused }
        try expect(read == payload, "the content of a JWS changes")
        let header = try again("the header of a JWS") { try JSONValue(parsing: input[..<end]) }
        try expect(
            header["alg"] == "ES256" && header["typ"] == .string(jwsType) && header["kid"] == .string(jwsKeyID)
                && header["crit"] == nil, "a JWS is verified that was not asked for")
        return .read
    }

    /// Keys and sets of keys.
    static let jwks = Parser("jwks") { input in
        guard let value = try? JSONValue(parsing: input) else { return .refused }
        let set = try kept("a set of keys", value, { value throws(JOSEError) in try JWKSet(value) }, \.json)
        let key = try kept("a key", value, { value throws(JOSEError) in try JWK(value) }, \.json)
        return set == .read || key == .read ? .read : .refused
    }

    private static func kept<Value>(
        _ what: String, _ json: JSONValue, _ read: (JSONValue) throws(JOSEError) -> Value,
        _ write: (Value) -> JSONValue
    ) throws -> Verdict {
        let value: Value
        do throws(JOSEError) { value = try read(json) } catch { return .refused }
        let written = write(value).encoded
        let again = try again(what) { try read(try JSONValue(parsing: written)) }
        try expect(write(again).encoded == written, "\(what) changes when it is written")
        return .read
    }
}
