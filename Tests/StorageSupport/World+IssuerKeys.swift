import CountersignCore
import CountersignStorage
import Crypto
import Encodings

extension World {
    /// Puts the issuer's keys where versions kept them before they rotated: all in one row.
    package func leaveIssuerKeysAsBefore() async throws {
        let material = try await store.read { try $0.keys.issuerKeys() }
        var object = JSONObject()
        object["created_at"] = .integer(Int64(material.createdAt))
        object["primary"] = .string(Base64.encode(material.primary.rawRepresentation))
        for (use, name) in [(KeyUse.signing, "signing"), (.encryption, "encryption"), (.push, "push")] {
            for key in material.kept where key.use == use {
                object[name] = .string(Base64.encode(key.secret.reveal()))
            }
        }
        let sealed = try store.sealer.seal(JSONValue.object(object).encoded, for: "issuer keys")
        try await sql("UPDATE secrets SET sealed = $1 WHERE name = 'issuer keys'", [.blob(sealed)])
        try await sql("DELETE FROM signing_keys")
    }
}
