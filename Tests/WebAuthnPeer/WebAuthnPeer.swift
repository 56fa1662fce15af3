import Encodings
import Foundation
import WebAuthn

/// This side of `scripts/test-webauthn-peers`: does what each line of standard input asks, and prints a line for each.
///
/// Lines are JSON objects; `do` says what to do. A refusal is `{"error": <the case of WebAuthnError>}`.
@main
struct WebAuthnPeer {
    static func main() throws {
        while let line = readLine() {
            let request = try JSONValue(parsing: Array(line.utf8))
            let reply: JSONValue
            do {
                reply = try answer(request)
            } catch let error as WebAuthnError {
                reply = ["error": .string("\(error)")]
            }
            FileHandle.standardOutput.write(Data(reply.encoded + [0x0A]))
        }
    }

    /// A line that the script should not have sent.
    struct Misunderstood: Error {
        let request: JSONValue
    }

    private static func answer(_ request: JSONValue) throws -> JSONValue {
        guard let site = PasskeyRelyingParty(origin: request["origin"]?.string ?? "", name: "Example"),
            let challenge = CeremonyChallenge(bytes(request["challenge"]))
        else { throw Misunderstood(request: request) }
        switch request["do"] {
        case "creation-options":
            guard let handle = UserHandle(bytes(request["user"])) else { throw Misunderstood(request: request) }
            let user = PasskeyUser(handle: handle, name: "anna@example.com", displayName: "Anna")
            return site.creationOptions(for: user, challenge: challenge, excluding: try passkeys(request))
        case "request-options": return site.requestOptions(challenge: challenge, allowing: try passkeys(request))
        case "register":
            let response = try RegistrationResponse(request["response"] ?? .null)
            return described(try site.verify(response, challenge: challenge))
        case "sign-in":
            let response = try AssertionResponse(request["response"] ?? .null)
            let user = request["known"] == true ? UserHandle(bytes(request["user"])) : nil
            return described(
                try site.verify(response, challenge: challenge, by: try passkey(request), of: user))
        default: throw Misunderstood(request: request)
        }
    }

    private static func bytes(_ value: JSONValue?) -> [UInt8] {
        value?.string.flatMap { Base64URL.decode($0) } ?? []
    }

    private static func passkeys(_ request: JSONValue) throws -> [PasskeyDescriptor] {
        try (request["passkeys"]?.array ?? []).map { PasskeyDescriptor(try CredentialID(bytes($0)), transports: []) }
    }

    private static func passkey(_ request: JSONValue) throws -> Passkey {
        guard let handle = UserHandle(bytes(request["user"])) else { throw Misunderstood(request: request) }
        return Passkey(
            credentialID: try CredentialID(bytes(request["id"])),
            publicKey: try CredentialPublicKey(cose: bytes(request["key"])), userHandle: handle,
            signCount: UInt32(request["count"]?.integer ?? 0), isBackupEligible: request["eligible"] == true)
    }

    private static func described(_ registration: VerifiedRegistration) -> JSONValue {
        [
            "id": .string(Base64URL.encode(registration.credentialID.bytes)),
            "key": .string(Base64URL.encode(registration.publicKey.cose)),
            "algorithm": .integer(registration.publicKey.algorithm.rawValue),
            "count": .integer(Int64(registration.signCount)), "eligible": .bool(registration.isBackupEligible),
            "attestation": .string("\(registration.attestation)"),
            "discoverable": registration.isDiscoverable.map { .bool($0) } ?? .null,
        ]
    }

    private static func described(_ assertion: VerifiedAssertion) -> JSONValue {
        [
            "user": .string(Base64URL.encode(assertion.userHandle.bytes)),
            "count": .integer(Int64(assertion.signCount)), "counter": .string("\(assertion.counter)"),
            "backedUp": .bool(assertion.isBackedUp),
        ]
    }
}
