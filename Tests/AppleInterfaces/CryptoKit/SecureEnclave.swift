import Crypto
import Foundation
import LocalAuthentication
import Security

/// Page: cryptokit/secureenclave iOS 13.0 macOS 10.15
public enum SecureEnclave {
    /// Page: cryptokit/secureenclave/isavailable iOS 13.0 macOS 10.15
    public static var isAvailable: Bool { false }

    /// Page: cryptokit/secureenclave/p256 iOS 13.0 macOS 10.15
    public enum P256 {
        /// Page: cryptokit/secureenclave/p256/signing iOS 13.0 macOS 10.15
        public enum Signing {
            /// Page: cryptokit/secureenclave/p256/signing/privatekey iOS 13.0 macOS 10.15
            public struct PrivateKey {
                /// Page: cryptokit/secureenclave/p256/signing/privatekey/init(compactrepresentable:accesscontrol:authenticationcontext:) iOS 13.0 macOS 10.15
                public init(
                    compactRepresentable: Bool = true, accessControl: SecAccessControl,
                    authenticationContext: LAContext? = nil
                ) throws { throw CancellationError() }

                /// Page: cryptokit/secureenclave/p256/signing/privatekey/init(datarepresentation:authenticationcontext:) iOS 13.0 macOS 10.15
                public init(dataRepresentation: Data, authenticationContext: LAContext? = nil) throws {
                    throw CancellationError()
                }

                /// Page: cryptokit/secureenclave/p256/signing/privatekey/publickey iOS 13.0 macOS 10.15
                public let publicKey: Crypto.P256.Signing.PublicKey

                /// Page: cryptokit/secureenclave/p256/signing/privatekey/datarepresentation iOS 13.0 macOS 10.15
                public let dataRepresentation: Data

                /// Page: cryptokit/secureenclave/p256/signing/privatekey iOS 13.0 macOS 10.15
                public func signature<D: Digest>(for digest: D) throws -> Crypto.P256.Signing.ECDSASignature {
                    throw CancellationError()
                }
            }
        }

        /// Page: cryptokit/secureenclave/p256/keyagreement iOS 13.0 macOS 10.15
        public enum KeyAgreement {
            /// Page: cryptokit/secureenclave/p256/keyagreement/privatekey iOS 13.0 macOS 10.15
            public struct PrivateKey {
                /// Page: cryptokit/secureenclave/p256/keyagreement/privatekey/init(compactrepresentable:accesscontrol:authenticationcontext:) iOS 13.0 macOS 10.15
                public init(
                    compactRepresentable: Bool = true, accessControl: SecAccessControl,
                    authenticationContext: LAContext? = nil
                ) throws { throw CancellationError() }

                /// Page: cryptokit/secureenclave/p256/keyagreement/privatekey/init(datarepresentation:authenticationcontext:) iOS 13.0 macOS 10.15
                public init(dataRepresentation: Data, authenticationContext: LAContext? = nil) throws {
                    throw CancellationError()
                }

                /// Page: cryptokit/secureenclave/p256/keyagreement/privatekey/publickey iOS 13.0 macOS 10.15
                public let publicKey: Crypto.P256.KeyAgreement.PublicKey

                /// Page: cryptokit/secureenclave/p256/keyagreement/privatekey/datarepresentation iOS 13.0 macOS 10.15
                public let dataRepresentation: Data

                /// Page: cryptokit/secureenclave/p256/keyagreement/privatekey/sharedsecretfromkeyagreement(with:) iOS 13.0 macOS 10.15
                public func sharedSecretFromKeyAgreement(
                    with publicKeyShare: Crypto.P256.KeyAgreement.PublicKey
                ) throws -> SharedSecret { throw CancellationError() }
            }
        }
    }
}
