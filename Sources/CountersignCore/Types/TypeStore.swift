package import CountersignWire

/// The challenge types.
///
/// All throw ``StoreError``.
package protocol TypeStore {
    func find(_ name: TypeName) throws -> ChallengeType?
    /// The same, for whoever comes to name the type, or removes it: one after the other.
    func lock(_ name: TypeName) throws -> ChallengeType?
    func all() throws -> [ChallengeType]
    func put(_ type: ChallengeType) throws
    /// False when there is none of this name.
    func delete(_ name: TypeName) throws -> Bool
}
