import CountersignCore
import Foundation
import Synchronization

/// Wakes a thread that waits for a file descriptor.
final class ThreadSignal: Sendable {
    private let reader: Int32
    private let writer: Int32
    private let isRung = Mutex(false)

    init() throws(StoreError) {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw StoreError.engine("no pipe can be made") }
        (reader, writer) = (ends[0], ends[1])
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    }

    deinit {
        close(reader)
        close(writer)
    }

    /// Signals; several signals before the next ``take()`` count as one.
    func ring() {
        let isFirst = isRung.withLock { isRung in
            defer { isRung = true }
            return !isRung
        }
        if isFirst { _ = write(writer, [1], 1) }
    }

    /// Whether there was a signal since the last call.
    func take() -> Bool {
        let wasRung = isRung.withLock { isRung in
            defer { isRung = false }
            return isRung
        }
        if wasRung {
            var byte: UInt8 = 0
            _ = read(reader, &byte, 1)
        }
        return wasRung
    }

    /// Waits for a signal, for data from the file descriptor, or for the time limit.
    func wait(beside descriptor: Int32, atMost milliseconds: Int32) {
        var entries = [pollfd(), pollfd()]
        (entries[0].fd, entries[1].fd) = (reader, descriptor)
        for index in entries.indices { entries[index].events = Int16(POLLIN) }
        _ = poll(&entries, 2, milliseconds)
    }
}
