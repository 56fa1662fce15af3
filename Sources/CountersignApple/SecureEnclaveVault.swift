#if canImport(CryptoKit) && canImport(LocalAuthentication) && canImport(Security)
    public import Countersign
    import Foundation
    import Security

    /// A vault of the Secure Enclave and the Keychain.
    public typealias SecureEnclaveVault = HardwareVault

    extension Vault where Self == SecureEnclaveVault {
        /// A vault whose keys are in the Secure Enclave, and whose records are in the Keychain, on this device alone.
        ///
        /// - Parameters:
        ///   - accessGroup: the Keychain's group that the app shares with its notification extension, which names it as
        ///     well; nil for the app alone. With another group, or without it, the vault is another one.
        ///   - appGroup: the group of files that all who use the access group share. Only files that are deleted with the app
        ///     tell a new installation, so with an access group and without this one, nothing does.
        ///   - softwareKeys: whether keys may be in software where there is no enclave, such as in a simulator. The
        ///     enrollment declares it.
        ///   - invalidation: who ends the key that biometrics unlock when they change.
        ///   - fallbackTitle: the title of the button for the PIN in the prompt for biometrics; nil for the system's own.
        ///   - reinstallation: what becomes of the keys that an earlier installation of the app has left in the Keychain.
        /// - Throws: `HardwareVault.Failure`, or the Keychain's error.
        public static func secureEnclave(
            accessGroup: String? = nil, appGroup: String? = nil, softwareKeys: SoftwareKeys = .refused,
            invalidation: BiometricInvalidation = .bySystem, fallbackTitle: String? = nil,
            after reinstallation: Reinstallation = .wipes
        ) throws -> SecureEnclaveVault {
            try SecureEnclaveVault(
                items: Keychain(accessGroup: accessGroup), hardware: EnclaveKeys(), softwareKeys: softwareKeys,
                invalidation: invalidation, fallbackTitle: fallbackTitle,
                installation: try installation(accessGroup, appGroup, reinstallation))
        }

        /// What tells a new installation; nil if no file is shared by all who use the items.
        private static func installation(
            _ accessGroup: String?, _ appGroup: String?, _ reinstallation: Reinstallation
        ) throws -> Installation? {
            guard accessGroup == nil || appGroup != nil else { return nil }
            let name = "countersign/installation"
            let own = try FileManager.default.url(
                for: .applicationSupportDirectory, in: .userDomainMask, appropriateFor: nil, create: true
            ).appending(path: Bundle.main.bundleIdentifier ?? "").appending(path: name)
            let isExtension = Bundle.main.bundlePath.hasSuffix(".appex")
            guard let appGroup else {
                return Installation(marker: own, after: reinstallation, isExtension: isExtension)
            }
            guard let folder = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: appGroup) else {
                throw CountersignError.configurationInvalid("the app has no group \(appGroup)")
            }
            return Installation(
                marker: folder.appending(path: name), own: own, after: reinstallation, isExtension: isExtension)
        }
    }
#endif
