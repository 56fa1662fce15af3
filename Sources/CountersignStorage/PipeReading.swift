package import Foundation

/// What has come through a pipe, waited for; empty at its end.
///
/// A read that a signal interrupts begins anew; Foundation's `availableData` ends the process for it.
package func nextData(of pipe: FileHandle) -> Data {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
        let count = buffer.withUnsafeMutableBytes { read(pipe.fileDescriptor, $0.baseAddress, $0.count) }
        guard count >= 0 || errno != EINTR else { continue }
        return Data(buffer.prefix(max(0, count)))
    }
}

/// All that comes through a pipe, or stands in a file, until the end.
package func allData(of pipe: FileHandle) -> Data {
    var all = Data()
    while case let data = nextData(of: pipe), !data.isEmpty { all += data }
    return all
}
