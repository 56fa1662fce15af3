public import CountersignWire

/// The replies that were sent once and may have to be sent again.
///
/// All throw ``StoreError``.
public protocol ReplyStore {
    func find(_ key: IdempotencyKey) throws -> RecordedReply?
    func insert(_ reply: RecordedReply, for key: IdempotencyKey, at: Timestamp) throws
}
