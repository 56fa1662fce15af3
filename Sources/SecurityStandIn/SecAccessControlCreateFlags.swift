#if !canImport(Security)
    /// What a person must show before a key can be used.
    public struct SecAccessControlCreateFlags: OptionSet, Hashable, Sendable {
        /// The flags as a number.
        public let rawValue: UInt

        /// The flags of a number.
        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        /// A biometric or the passcode.
        public static let userPresence = Self(rawValue: 1 << 0)
        /// Any biometric, also one that is added later.
        public static let biometryAny = Self(rawValue: 1 << 1)
        /// A biometric of those that are set up when the key is made.
        public static let biometryCurrentSet = Self(rawValue: 1 << 3)
        /// The passcode.
        public static let devicePasscode = Self(rawValue: 1 << 4)
        /// One of what is named is enough.
        public static let or = Self(rawValue: 1 << 14)
        /// All of what is named is needed.
        public static let and = Self(rawValue: 1 << 15)
        /// The key signs and decrypts.
        public static let privateKeyUsage = Self(rawValue: 1 << 30)
        /// A password of the app's.
        public static let applicationPassword = Self(rawValue: 1 << 31)
    }
#endif
