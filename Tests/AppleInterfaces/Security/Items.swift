// swift-format-ignore-file: AlwaysUseLowerCamelCase
import Foundation

/// Page: security/secitemadd(_:_:) iOS 2.0 macOS 10.6
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> Int32 { 0 }

/// Page: security/secitemcopymatching(_:_:) iOS 2.0 macOS 10.6
public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> Int32 { 0 }

/// Page: security/secitemupdate(_:_:) iOS 2.0 macOS 10.6
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> Int32 { 0 }

/// Page: security/secitemdelete(_:) iOS 2.0 macOS 10.6
public func SecItemDelete(_ query: CFDictionary) -> Int32 { 0 }

/// Page: security/secaccesscontrol iOS 8.0 macOS 10.10
public final class SecAccessControl {}

/// Page: security/secaccesscontrolcreatewithflags(_:_:_:_:) iOS 8.0 macOS 10.10
public func SecAccessControlCreateWithFlags(
    _ allocator: CFAllocator?, _ protection: CFTypeRef, _ flags: SecAccessControlCreateFlags,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecAccessControl? { nil }

/// Page: security/secaccesscontrolcreateflags iOS 8.0 macOS 10.10
public struct SecAccessControlCreateFlags: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Page: security/secaccesscontrolcreateflags/privatekeyusage iOS 9.0 macOS 10.12.1
    public static var privateKeyUsage: SecAccessControlCreateFlags { [] }
    /// Page: security/secaccesscontrolcreateflags/biometrycurrentset iOS 11.3 macOS 10.13.4
    public static var biometryCurrentSet: SecAccessControlCreateFlags { [] }
    /// Page: security/secaccesscontrolcreateflags/biometryany iOS 11.3 macOS 10.13.4
    public static var biometryAny: SecAccessControlCreateFlags { [] }
}
