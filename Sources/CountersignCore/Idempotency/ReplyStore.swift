package import CountersignWire

/// The outcomes that are kept for repeats of their requests.
///
/// All functions throw ``StoreError``.
package protocol ReplyStore {
    func find(_ key: IdempotencyKey) throws -> KeptReply?
    func insert(_ form: KeptForm, for key: IdempotencyKey, at: Timestamp) throws
}
