#if canImport(CryptoKit) && canImport(LocalAuthentication) && canImport(Security)
    import Countersign
    import Crypto
    import CryptoKit
    import Foundation
    import LocalAuthentication
    import OpenPGP
    import Security

    /// Keys in the Secure Enclave, on this device alone.
    ///
    /// A reference is the enclave's own sealed form of a key, which no other enclave opens.
    struct EnclaveKeys: HardwareKeys {
        /// The Keychain's rules for a key could not be made.
        struct NoAccessControl: Error {}

        private struct Signing: SigningKey {
            let reference: Data
            let publicKey: P256.Signing.PublicKey

            func signature(for digest: SHA256Digest) async throws -> P256.Signing.ECDSASignature {
                try SecureEnclave.P256.Signing.PrivateKey(dataRepresentation: reference).signature(for: digest)
            }
        }

        private struct Agreement: AgreementKey {
            let reference: Data
            let publicKey: P256.KeyAgreement.PublicKey

            // The raw shared secret, which OpenPGP needs: iOS 13.0 and macOS 10.15 have it.
            func sharedSecret(with peer: P256.KeyAgreement.PublicKey) async throws -> SharedSecret {
                try SecureEnclave.P256.KeyAgreement.PrivateKey(dataRepresentation: reference)
                    .sharedSecretFromKeyAgreement(with: peer)
            }
        }

        var isAvailable: Bool { SecureEnclave.isAvailable }

        func makeSigningKey(_ protection: KeyProtection) throws -> [UInt8] {
            Array(
                try SecureEnclave.P256.Signing.PrivateKey(accessControl: try Self.accessControl(protection))
                    .dataRepresentation)
        }

        func makeAgreementKey(_ protection: KeyProtection) throws -> [UInt8] {
            Array(
                try SecureEnclave.P256.KeyAgreement.PrivateKey(accessControl: try Self.accessControl(protection))
                    .dataRepresentation)
        }

        func signingKey(_ reference: [UInt8]) throws -> any SigningKey {
            let key = try SecureEnclave.P256.Signing.PrivateKey(dataRepresentation: Data(reference))
            return Signing(reference: Data(reference), publicKey: key.publicKey)
        }

        func agreementKey(_ reference: [UInt8]) throws -> any AgreementKey {
            let key = try SecureEnclave.P256.KeyAgreement.PrivateKey(dataRepresentation: Data(reference))
            return Agreement(reference: Data(reference), publicKey: key.publicKey)
        }

        func biometrics() throws(BiometricFailure) -> [UInt8]? {
            try BiometricCheck.state()
        }

        func signature(
            for digest: SHA256Digest, with reference: [UInt8], after prompt: BiometricPrompt
        ) async throws -> P256.Signing.ECDSASignature {
            let context = LAContext()
            try await BiometricCheck.run(prompt, in: context)
            do {
                return try SecureEnclave.P256.Signing.PrivateKey(
                    dataRepresentation: Data(reference), authenticationContext: context
                ).signature(for: digest)
            } catch let error as LAError {
                throw BiometricFailure(localAuthenticationCode: error.code.rawValue)
            }
        }

        private static func accessControl(_ protection: KeyProtection) throws -> SecAccessControl {
            let accessible: CFString =
                switch protection.accessibility {
                case .afterFirstUnlock: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
                case .whenUnlocked: kSecAttrAccessibleWhenUnlockedThisDeviceOnly
                case .whenPasscodeSet: kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly
                }
            let flags: SecAccessControlCreateFlags =
                switch protection.biometry {
                case nil: .privateKeyUsage
                case .currentSet: [.privateKeyUsage, .biometryCurrentSet]
                case .anySet: [.privateKeyUsage, .biometryAny]
                }
            guard let control = SecAccessControlCreateWithFlags(nil, accessible, flags, nil) else {
                throw NoAccessControl()
            }
            return control
        }
    }
#endif
