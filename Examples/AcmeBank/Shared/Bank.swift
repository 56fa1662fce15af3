#if canImport(SwiftUI) && canImport(UIKit)
    import Countersign
    import CountersignApple
    import Foundation

    /// What the app and its notification service extension share: the keys, and who the app is.
    struct Bank: Sendable {
        /// A key of Info.plist that must be there.
        struct Missing: Error {
            let key: String
        }

        static let name = "Acme Bank"
        static let biometricPrompt = "Approve at Acme Bank"

        /// Enrolls, receives and answers.
        let authenticator: Authenticator
        /// Signs in.
        let client: OpenIDClient

        /// Opens the keys, and what the app needs besides.
        static func open() async throws -> Bank {
            let vault = try vault()
            let registration = OpenIDRegistration(
                issuer: try issuer(), clientID: try text("AcmeClientID"), redirectURI: try url("AcmeRedirectURI"),
                scopes: ["openid", "offline_access", "enroll"])
            return Bank(
                authenticator: try await authenticator(vault), client: try OpenIDClient(registration, vault: vault))
        }

        /// Opens the keys, as the extension does, too.
        static func authenticator() async throws -> Authenticator {
            try await authenticator(try vault())
        }

        private static func authenticator(_ vault: SecureEnclaveVault) async throws -> Authenticator {
            let version = Bundle.main.object(forInfoDictionaryKey: "CFBundleShortVersionString") as? String
            return try await Authenticator(
                issuer: try issuer(), app: AppDescription(name: name, version: version ?? "", deviceName: "iPhone"),
                vault: vault)
        }

        private static func vault() throws -> SecureEnclaveVault {
            #if targetEnvironment(simulator)
                let softwareKeys = SoftwareKeys.allowed
            #else
                let softwareKeys = SoftwareKeys.refused
            #endif
            return try .secureEnclave(
                accessGroup: try text("AcmeAccessGroup"), appGroup: try text("AcmeAppGroup"),
                softwareKeys: softwareKeys, fallbackTitle: "Use the PIN")
        }

        private static func issuer() throws -> URL { try url("AcmeIssuer") }

        private static func url(_ key: String) throws -> URL {
            guard let url = URL(string: try text(key)) else { throw Missing(key: key) }
            return url
        }

        /// A text that project.yml puts into Info.plist.
        private static func text(_ key: String) throws -> String {
            guard let text = Bundle.main.object(forInfoDictionaryKey: key) as? String else { throw Missing(key: key) }
            return text
        }
    }
#endif
