package import CountersignWire

/// What clients replace on their pages.
///
/// All methods throw ``StoreError``.
package protocol LookStore {
    /// The look of a client; it does not read the bytes of the logo.
    func find(_ client: ClientID) throws -> Look?
    /// The bytes of a logo that some client has.
    func logo(_ hash: LogoHash) throws -> [UInt8]?
    /// - Parameter logo: the bytes of the logo that the look names.
    func put(_ look: Look, of client: ClientID, logo: [UInt8]?) throws
    /// Returns false if the client had no look.
    func removeLook(of client: ClientID) throws -> Bool
}
