#if !canImport(Security)
    // The names are those of Apple's module. Here is what public signatures of ours name.

    /// What a key's use depends on.
    public struct SecAccessControlCreateFlags: OptionSet, Sendable {
        /// The flags as bits, which are Apple's.
        public let rawValue: UInt

        /// The flags of these bits.
        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        /// The user's presence, by a biometric or the passcode.
        public static let userPresence = SecAccessControlCreateFlags(rawValue: 1 << 0)
        /// A biometric, also one that is registered later.
        public static let biometryAny = SecAccessControlCreateFlags(rawValue: 1 << 1)
        /// A biometric of those that are registered when the key is made.
        public static let biometryCurrentSet = SecAccessControlCreateFlags(rawValue: 1 << 3)
        /// The device's passcode.
        public static let devicePasscode = SecAccessControlCreateFlags(rawValue: 1 << 4)
        /// One of the conditions is enough.
        public static let or = SecAccessControlCreateFlags(rawValue: 1 << 14)
        /// All conditions are needed.
        public static let and = SecAccessControlCreateFlags(rawValue: 1 << 15)
        /// The private key signs.
        public static let privateKeyUsage = SecAccessControlCreateFlags(rawValue: 1 << 30)
        /// The app brings a password of its own.
        public static let applicationPassword = SecAccessControlCreateFlags(rawValue: 1 << 31)
    }
#endif
