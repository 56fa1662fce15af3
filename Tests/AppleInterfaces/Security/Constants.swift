import Foundation

/// Page: security/ksecclass iOS 2.0 macOS 10.6
public let kSecClass = CFString()
/// Page: security/ksecclassgenericpassword iOS 2.0 macOS 10.7
public let kSecClassGenericPassword = CFString()
/// Page: security/ksecattrservice iOS 2.0 macOS 10.6
public let kSecAttrService = CFString()
/// Page: security/ksecattraccount iOS 2.0 macOS 10.6
public let kSecAttrAccount = CFString()
/// Page: security/ksecattraccessgroup iOS 3.0 macOS 10.9
public let kSecAttrAccessGroup = CFString()
/// Page: security/ksecattraccessible iOS 4.0 macOS 10.9
public let kSecAttrAccessible = CFString()
/// Page: security/ksecattraccessibleafterfirstunlockthisdeviceonly iOS 4.0 macOS 10.9
public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly = CFString()
/// Page: security/ksecattraccessiblewhenunlockedthisdeviceonly iOS 4.0 macOS 10.9
public let kSecAttrAccessibleWhenUnlockedThisDeviceOnly = CFString()
/// Page: security/ksecattraccessiblewhenpasscodesetthisdeviceonly iOS 8.0 macOS 10.10
public let kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly = CFString()
/// Page: security/ksecusedataprotectionkeychain iOS 13.0 macOS 10.15
public let kSecUseDataProtectionKeychain = CFString()
/// Page: security/ksecvaluedata iOS 2.0 macOS 10.6
public let kSecValueData = CFString()
/// Page: security/ksecreturndata iOS 2.0 macOS 10.6
public let kSecReturnData = CFString()
/// Page: security/ksecreturnattributes iOS 2.0 macOS 10.6
public let kSecReturnAttributes = CFString()
/// Page: security/ksecmatchlimit iOS 2.0 macOS 10.6
public let kSecMatchLimit = CFString()
/// Page: security/ksecmatchlimitall iOS 2.0 macOS 10.6
public let kSecMatchLimitAll = CFString()
/// Page: security/errsecsuccess iOS 2.0 macOS 10.0
public var errSecSuccess: Int32 { 0 }
/// Page: security/errsecitemnotfound iOS 2.0 macOS 10.0
public var errSecItemNotFound: Int32 { -25300 }
/// Page: security/errsecduplicateitem iOS 2.0 macOS 10.0
public var errSecDuplicateItem: Int32 { -25299 }
