#if canImport(Security)
    import Foundation
    import Security

    // Apple's compilers bridge these; no other does. So the check on Linux sees nothing of these two lines, and nothing else
    // in this module may bridge.

    /// A dictionary for the Keychain.
    func dictionary(_ members: [CFString: Any]) -> CFDictionary {
        #if canImport(ObjectiveC)
            members as CFDictionary
        #else
            preconditionFailure("only Apple's systems have a Keychain")
        #endif
    }

    /// The text of a constant.
    func text(_ constant: CFString) -> String {
        #if canImport(ObjectiveC)
            constant as String
        #else
            preconditionFailure("only Apple's systems have a Keychain")
        #endif
    }
#endif
