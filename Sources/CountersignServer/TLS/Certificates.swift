import Logging
import NIOSSL
import UnixSignals

/// The certificate for new connections, which is read again when its files change.
final class Certificates: Sendable {
    /// How many bytes the certificates of a caller may have together: its connection holds them for as long as it lasts.
    private static let mostBytes = 16 * 1024

    private let files: WatchedFiles<NIOSSLContext>
    /// Whether callers are asked for certificates of their own.
    let asksForCertificates: Bool

    /// Reads the files.
    ///
    /// - Parameters:
    ///   - files: the files.
    ///   - asksForCertificates: whether to ask callers for certificates of their own.
    ///   - logger: told when the files cannot be used later.
    /// - Throws: ``StartError`` that names the file and what to do.
    init(_ files: TLSFiles, asksForCertificates: Bool = false, logger: Logger) throws {
        self.asksForCertificates = asksForCertificates
        self.files = try WatchedFiles(
            [files.certificate, files.key], named: "certificate", logger: logger,
            describedBy: { _ in ["file": "\(files.certificate)"] },
            read: { try files.context(askingForCertificates: asksForCertificates) })
    }

    /// The TLS settings for a new connection.
    var context: NIOSSLContext { files.value }

    /// Whether the certificates that a caller shows are taken; what they are worth, ``ClientCertificate`` says.
    static func takes(_ shown: [NIOSSLCertificate]) -> Bool {
        guard let sizes = try? shown.map({ try $0.toDERBytes().count }) else { return false }
        return sizes.reduce(0, +) <= mostBytes
    }

    /// Reads the files again whenever they change, and at each of these signals.
    func watch(_ reloads: UnixSignalsSequence) async throws {
        try await withThrowingTaskGroup { group in
            group.addTask {
                for await _ in reloads { self.files.reload() }
            }
            group.addTask { try await self.files.watch() }
            try await group.waitForAll()
        }
    }
}
