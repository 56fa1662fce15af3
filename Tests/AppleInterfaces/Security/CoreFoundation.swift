import Foundation

/// Page: corefoundation/cfstring iOS 2.0 macOS 10.0
public final class CFString: Hashable, @unchecked Sendable {
    public static func == (one: CFString, other: CFString) -> Bool { one === other }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// Page: corefoundation/cfdictionary iOS 2.0 macOS 10.0
public final class CFDictionary {}

/// Page: corefoundation/cfallocator iOS 2.0 macOS 10.0
public final class CFAllocator {}

/// Page: corefoundation/cferror iOS 2.0 macOS 10.5
public final class CFError {}

/// Page: corefoundation/cftyperef iOS 2.0 macOS 10.0
public typealias CFTypeRef = AnyObject

extension FileManager {
    /// Page: foundation/filemanager/containerurl(forsecurityapplicationgroupidentifier:) iOS 7.0 macOS 10.8
    public func containerURL(forSecurityApplicationGroupIdentifier groupIdentifier: String) -> URL? { nil }
}
