import Countersign
import Foundation

#if canImport(CryptoKit) && canImport(LocalAuthentication) && canImport(Security)
    import CountersignApple
#endif

extension Backing {
    /// The vault of this system.
    static func usualVault() throws(CountersignError) -> any Vault {
        #if canImport(CryptoKit) && canImport(LocalAuthentication) && canImport(Security)
            do {
                return try HardwareVault.secureEnclave()
            } catch {
                throw .vault("\(error)")
            }
        #else
            throw .configurationInvalid("this system has no vault of its own: set Cotter.settings.vault")
        #endif
    }

    /// The app as its bundle describes it.
    static func usualApp() -> AppDescription {
        func text(_ key: String) -> String? { Bundle.main.object(forInfoDictionaryKey: key) as? String }
        return AppDescription(
            name: text("CFBundleDisplayName") ?? text("CFBundleName") ?? "App",
            version: text("CFBundleShortVersionString") ?? "0", deviceName: "Phone")
    }

    /// Where the browser comes back to the app: at a scheme that nobody else may choose.
    ///
    /// Spec: RFC 8252 §7.1.
    static func usualRedirectURI() -> URL? {
        Bundle.main.bundleIdentifier.flatMap { $0.contains(".") ? URL(string: "\($0.lowercased()):/cotter") : nil }
    }
}
