import Crypto
import Encodings
import Foundation
import OpenPGP

/// A key as an item of the system's store: a reference to the hardware, or a key in software.
struct StoredKey: Sendable {
    /// Where a key is.
    enum Place: String {
        case hardware, software
    }

    /// What is known of a key that biometrics unlock, since it may not be used without them.
    struct Biometrics: Sendable {
        let publicKey: P256.Signing.PublicKey
        /// The state of the biometrics when the key was made; nil if the system did not say.
        let state: [UInt8]?
        let invalidation: BiometricInvalidation
    }

    private static let version: Int64 = 1

    let place: Place
    /// The reference, or the key itself.
    let bytes: [UInt8]
    let biometrics: Biometrics?

    init(_ place: Place, _ bytes: [UInt8], biometrics: Biometrics? = nil) {
        self.place = place
        self.bytes = bytes
        self.biometrics = biometrics
    }

    /// Reads an item, or nil.
    init?(_ item: [UInt8]) {
        guard let json = try? JSONValue(parsing: item), json["v"] == .integer(Self.version),
            let place = json["in"]?.string.flatMap(Place.init(rawValue:)),
            let bytes = json["key"]?.string.flatMap({ Base64.decode($0) })
        else { return nil }
        var biometrics: Biometrics?
        if let member = json["biometrics"] {
            guard let point = member["public"]?.string.flatMap({ Base64.decode($0) }),
                let publicKey = try? P256.Signing.PublicKey(x963Representation: point),
                let invalidation = member["invalidation"]?.string.flatMap(BiometricInvalidation.init(rawValue:))
            else { return nil }
            biometrics = Biometrics(
                publicKey: publicKey, state: member["state"]?.string.flatMap { Base64.decode($0) },
                invalidation: invalidation)
        }
        self.init(place, bytes, biometrics: biometrics)
    }

    var encoded: [UInt8] {
        JSONValue.members([
            "v": .integer(Self.version), "in": .string(place.rawValue), "key": .string(Base64.encode(bytes)),
            "biometrics": biometrics.map {
                .members([
                    "public": .string(Base64.encode(Array($0.publicKey.x963Representation))),
                    "state": $0.state.map { .string(Base64.encode($0)) },
                    "invalidation": .string($0.invalidation.rawValue),
                ])
            },
        ]).encoded
    }
}

/// A key in hardware that signs after a check of the user's biometrics.
struct BiometricKey: SigningKey {
    let hardware: any HardwareKeys
    let reference: [UInt8]
    let known: StoredKey.Biometrics
    let prompt: BiometricPrompt

    var publicKey: P256.Signing.PublicKey { known.publicKey }

    func signature(for digest: SHA256Digest) async throws -> P256.Signing.ECDSASignature {
        let state = try hardware.biometrics()
        let isKnown = state != nil && state == known.state
        if known.invalidation == .byApp, !isKnown { throw BiometricFailure.changed }
        do {
            return try await hardware.signature(for: digest, with: reference, after: prompt)
        } catch let failure as BiometricFailure {
            throw failure
        } catch {
            // The hardware does not say why it has no such key any more.
            throw isKnown ? error : BiometricFailure.changed
        }
    }
}
