import Foundation

/// Page: localauthentication/lacontext iOS 8.0 macOS 10.10
open class LAContext: NSObject {
    /// Page: localauthentication/lacontext/localizedfallbacktitle iOS 8.0 macOS 10.10
    open var localizedFallbackTitle: String?

    /// Page: localauthentication/lacontext/evaluatedpolicydomainstate iOS 9.0 macOS 10.11
    open var evaluatedPolicyDomainState: Data? { nil }

    /// Page: localauthentication/lacontext/domainstate iOS 18.0 macOS 15.0
    open var domainState: LADomainState { LADomainState() }

    /// Page: localauthentication/lacontext/canevaluatepolicy(_:error:) iOS 8.0 macOS 10.10
    open func canEvaluatePolicy(_ policy: LAPolicy, error: UnsafeMutablePointer<NSError?>?) -> Bool { false }

    /// Page: localauthentication/lacontext/evaluatepolicy(_:localizedreason:reply:) iOS 8.0 macOS 10.10
    open func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool { false }
}

/// Page: localauthentication/lapolicy iOS 8.0 macOS 10.10
public enum LAPolicy: Int, @unchecked Sendable {
    /// Page: localauthentication/lapolicy/deviceownerauthenticationwithbiometrics iOS 8.0 macOS 10.12.2
    case deviceOwnerAuthenticationWithBiometrics = 1
}

/// Page: localauthentication/ladomainstate iOS 18.0 macOS 15.0
open class LADomainState: NSObject {
    /// Page: localauthentication/ladomainstate/biometry iOS 18.0 macOS 15.0
    open var biometry: LADomainStateBiometry { LADomainStateBiometry() }
}

/// Page: localauthentication/ladomainstatebiometry iOS 18.0 macOS 15.0
open class LADomainStateBiometry: NSObject {
    /// Page: localauthentication/ladomainstatebiometry/statehash iOS 18.0 macOS 15.0
    open var stateHash: Data? { nil }
}

/// Page: localauthentication/laerror-swift.struct iOS 8.0 macOS 10.10
public struct LAError: Error {
    /// Page: localauthentication/laerror-swift.struct/code iOS 8.0 macOS 10.10
    public struct Code: RawRepresentable {
        public let rawValue: Int
        public init?(rawValue: Int) { self.rawValue = rawValue }
    }

    /// Page: localauthentication/laerror-swift.struct/code iOS 8.0 macOS 10.10
    public var code: Code { preconditionFailure() }
}
