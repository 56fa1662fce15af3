package import Foundation

/// Waits for the next data from a pipe; empty at its end.
///
/// A read that a signal interrupts is repeated; Foundation's `availableData` would end the process.
package func nextData(of pipe: FileHandle) -> Data {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
        let count = buffer.withUnsafeMutableBytes { read(pipe.fileDescriptor, $0.baseAddress, $0.count) }
        guard count >= 0 || errno != EINTR else { continue }
        return Data(buffer.prefix(max(0, count)))
    }
}

/// Whether a pipe has data within some seconds, or comes to its end.
func hasData(_ pipe: FileHandle, within seconds: Int32) -> Bool {
    var wanted = pollfd(fd: pipe.fileDescriptor, events: Int16(POLLIN), revents: 0)
    while true {
        let count = poll(&wanted, 1, seconds * 1000)
        guard count < 0, errno == EINTR else { return count != 0 }
    }
}

/// Reads a pipe or a file to its end.
package func allData(of pipe: FileHandle) -> Data {
    var all = Data()
    while case let data = nextData(of: pipe), !data.isEmpty { all += data }
    return all
}
