import CountersignWire
import Encodings

extension UnitOfWork {
    /// Enqueues a notice for each receiver.
    func tell(_ receivers: [NoticeReceiver], _ notice: (NoticeReceiver) -> JSONValue) throws {
        for receiver in receivers {
            try outbox.enqueue(
                OutboxMessage(
                    id: nextID(),
                    content: .notice(receiver.uri, client: receiver.client, body: notice(receiver).encoded),
                    dueAt: now, expiresAt: now.adding(OutboxMessage.lifetime)))
        }
    }
}
