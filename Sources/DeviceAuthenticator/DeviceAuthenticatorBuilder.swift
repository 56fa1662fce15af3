import Countersign
import CountersignWire
import Foundation

#if canImport(Security) || canImport(UserNotifications)
    import CountersignApple
#endif

/// Makes the app's authenticator.
public final class DeviceAuthenticatorBuilder {
    private let config: ApplicationConfig

    /// A builder for an app.
    public init(applicationConfig: ApplicationConfig) {
        config = applicationConfig
    }

    /// Opens the enrollments on this device, and registers the actions of notifications if they have titles.
    ///
    /// The calling thread waits while the vault is read.
    ///
    /// - Throws: ``DeviceAuthenticatorError/storageError(_:)``: ``StorageError/missingAppGroupEntitlement`` if the app
    ///   does not have the groups of its configuration, ``StorageError/generalStorageError(_:)`` if the vault cannot be
    ///   read, or there is none.
    public func create() throws -> any DeviceAuthenticatorProtocol {
        let settings = Settings(config, vault: try vault())
        let authenticator = try SDKDeviceAuthenticator(settings: settings)
        registerCategories()
        return authenticator
    }

    private func vault() throws(DeviceAuthenticatorError) -> any Vault {
        if let vault = config.countersign.vault { return vault }
        #if canImport(CryptoKit) && canImport(LocalAuthentication) && canImport(Security)
            do {
                let vault: SecureEnclaveVault = try .secureEnclave(
                    accessGroup: config.keychainGroupId ?? config.applicationGroupId,
                    appGroup: config.applicationGroupId)
                return vault
            } catch CountersignError.configurationInvalid {
                throw .storageError(.missingAppGroupEntitlement)
            } catch {
                throw .storageError(.generalStorageError("\(error)"))
            }
        #else
            throw .storageError(.generalStorageError("this system has no Secure Enclave: set countersign.vault"))
        #endif
    }

    private func registerCategories() {
        #if canImport(UserNotifications)
            guard let approve = config.pushSettings.approveActionTitle, let deny = config.pushSettings.denyActionTitle
            else { return }
            Notifications.registerCategories(
                NotificationTitles(approve: approve, deny: deny, report: config.countersign.reportActionTitle))
        #endif
    }
}

/// The configuration of an app as it was when its authenticator was made.
struct Settings: Sendable {
    let app: AppDescription
    let bundleIdentifier: String?
    let environment: APNsEnvironment
    let biometricPrompt: String
    let vault: any Vault
    let transport: any Transport
    let clock: any DeviceClock

    init(_ config: ApplicationConfig, vault: any Vault) {
        app = AppDescription(
            name: config.applicationName, version: config.applicationVersion,
            deviceName: config.countersign.deviceName ?? config.applicationName)
        bundleIdentifier = config.countersign.bundleIdentifier ?? Bundle.main.bundleIdentifier
        environment =
            switch config.pushSettings.apsEnvironment {
            case .development: .development
            case .production: .production
            }
        biometricPrompt = config.countersign.biometricPrompt
        self.vault = vault
        transport = config.countersign.transport
        clock = config.countersign.clock
    }
}
