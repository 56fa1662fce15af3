#if canImport(Security)
    import Countersign
    import Foundation
    import Security

    /// The items of the Keychain that are this SDK's, on this device alone.
    ///
    /// They are readable from the first unlock on, are in no backup that another device reads, and are not synchronized.
    struct Keychain: ItemStore {
        /// What the Keychain answers instead of an item.
        struct Failure: Error, CustomStringConvertible {
            let status: Int32

            var description: String { "the Keychain answers \(status)" }
        }

        /// The group of those who share the items; nil for the app alone.
        let accessGroup: String?

        private var service: String {
            Installation.store(sharedBy: accessGroup, of: Bundle.main.bundleIdentifier ?? "")
        }

        private func query(_ name: String?, _ more: [CFString: Any] = [:]) -> CFDictionary {
            var members: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword, kSecAttrService: service,
                // Without it, macOS would ask a keychain that knows neither groups nor the device's unlocking.
                kSecUseDataProtectionKeychain: true,
            ]
            if let name { members[kSecAttrAccount] = name }
            if let accessGroup { members[kSecAttrAccessGroup] = accessGroup }
            return dictionary(members.merging(more) { $1 })
        }

        func item(_ name: String) throws -> [UInt8]? {
            var found: CFTypeRef?
            let status = SecItemCopyMatching(query(name, [kSecReturnData: true]), &found)
            guard status != errSecItemNotFound else { return nil }
            guard status == errSecSuccess, let data = found as? Data else { throw Failure(status: status) }
            return Array(data)
        }

        func write(_ item: [UInt8], as name: String) throws {
            let content: [CFString: Any] = [
                kSecValueData: Data(item), kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
            ]
            var status = SecItemUpdate(query(name), dictionary(content))
            if status == errSecItemNotFound { status = SecItemAdd(query(name, content), nil) }
            // An extension was faster: what was written last counts.
            if status == errSecDuplicateItem { status = SecItemUpdate(query(name), dictionary(content)) }
            guard status == errSecSuccess else { throw Failure(status: status) }
        }

        func remove(_ name: String) throws {
            let status = SecItemDelete(query(name))
            guard status == errSecSuccess || status == errSecItemNotFound else { throw Failure(status: status) }
        }

        func names() throws -> [String] {
            var found: CFTypeRef?
            let status = SecItemCopyMatching(
                query(nil, [kSecReturnAttributes: true, kSecMatchLimit: kSecMatchLimitAll]), &found)
            guard status != errSecItemNotFound else { return [] }
            guard status == errSecSuccess, let items = found as? [[String: Any]] else { throw Failure(status: status) }
            return items.compactMap { $0[text(kSecAttrAccount)] as? String }
        }
    }
#endif
