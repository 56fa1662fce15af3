#if canImport(LocalAuthentication)
    import Countersign
    import Foundation
    import LocalAuthentication

    /// The system's check of the user's biometrics.
    enum BiometricCheck {
        /// Tells the two kinds of state apart, which are never equal.
        private enum Kind: UInt8 {
            case policy = 1
            case domain
        }

        /// The state of the user's biometrics, which differs after they have changed; nil if the system does not say.
        ///
        /// - Throws: ``BiometricFailure`` when they cannot be checked now.
        static func state() throws(BiometricFailure) -> [UInt8]? {
            let context = LAContext()
            var error: NSError?
            guard context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: &error) else {
                throw BiometricFailure(localAuthenticationCode: error?.code ?? 0)
            }
            if #available(iOS 18, *) {
                return context.domainState.biometry.stateHash.map { [Kind.domain.rawValue] + $0 }
            }
            #if canImport(UIKit)
                return context.evaluatedPolicyDomainState.map { [Kind.policy.rawValue] + $0 }
            #else
                // Every macOS that this package runs on has the state above.
                return nil
            #endif
        }

        /// Shows the prompt, and returns when the user was recognised.
        static func run(_ prompt: BiometricPrompt, in context: LAContext) async throws(BiometricFailure) {
            context.localizedFallbackTitle = prompt.fallbackTitle
            do {
                guard
                    try await context.evaluatePolicy(
                        .deviceOwnerAuthenticationWithBiometrics, localizedReason: prompt.text)
                else { throw BiometricFailure.failed }
            } catch let error as LAError {
                throw BiometricFailure(localAuthenticationCode: error.code.rawValue)
            } catch {
                throw BiometricFailure.failed
            }
        }
    }
#endif
