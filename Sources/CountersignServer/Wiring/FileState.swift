import Foundation

/// The attributes of a file by which a change is noticed without reading the file.
struct FileState: Hashable, Sendable {
    let seconds: Int
    let nanoseconds: Int
    let size: Int64
    let number: UInt64
    /// Whether it is a file that can be read to its end, and no folder or pipe.
    let isRegular: Bool

    /// Reads the attributes of a file; nil if there is no such file.
    init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        #if canImport(Darwin)
            let time = status.st_mtimespec
        #else
            let time = status.st_mtim
        #endif
        seconds = Int(time.tv_sec)
        nanoseconds = Int(time.tv_nsec)
        size = Int64(status.st_size)
        number = UInt64(status.st_ino)
        isRegular = status.st_mode & S_IFMT == S_IFREG
    }
}
