import CCurl
import CountersignWire
import NIOPosix
import Synchronization

/// Sends mails through a mail server.
///
/// libcurl does SMTP on dedicated threads, so a server that does not respond delays only other mails.
///
/// Spec: RFC 5321 §3.3.
package final class SMTPSender: Sendable {
    /// The maximum number of mails sent at the same time.
    package static let atOnce = 8

    private let settings: SMTPSettings
    private let threads: NIOThreadPool
    /// Connections not in use; the most recently used is last.
    private let idle = Mutex<[SMTPConnection]>([])

    /// Creates a sender; the caller must shut it down.
    package init(_ settings: SMTPSettings) {
        self.settings = settings
        threads = NIOThreadPool(numberOfThreads: Self.atOnce)
        threads.start()
    }

    /// Ends the threads; sessions in progress are aborted.
    package func shutdown() async throws {
        try await threads.shutdownGracefully()
        idle.withLock { $0 = [] }
    }

    func send(
        _ content: MessageTemplates.Mail, from sender: String, to: EmailAddress, as id: EventID, at now: Timestamp
    ) async
        -> DeliveryResult
    {
        let message = MailMessage(id: id, from: settings.from, sender: sender, to: to, content: content, date: now)
        do {
            return Self.result(of: try await converse(message), needsSMTPUTF8: to.needsSMTPUTF8)
        } catch {
            return .failed("mail could not be sent: \(error)")
        }
    }

    /// Greets the server and authenticates, without sending anything.
    ///
    /// - Returns: the problem; nil if there is none.
    package func complaint() async -> String? {
        do {
            let ending = try await converse(nil)
            return ending.code == CURLE_OK ? nil : Self.words(of: ending)
        } catch {
            return "\(error)"
        }
    }

    private func converse(_ message: MailMessage?) async throws -> SMTPConnection.Ending {
        let isCancelled = Cancellation()
        return try await withTaskCancellationHandler {
            try await threads.runIfActive { [self] in
                guard let connection = idle.withLock({ $0.popLast() }) ?? SMTPConnection() else {
                    return .init(
                        code: CURLE_OUT_OF_MEMORY, reply: 0, enhanced: nil, hasBegun: false, offersSMTPUTF8: false)
                }
                let ending = connection.run(message, settings) { isCancelled.flag.load(ordering: .relaxed) }
                idle.withLock { $0.append(connection) }
                return ending
            }
        } onCancel: {
            isCancelled.flag.store(true, ordering: .relaxed)
        }
    }

    /// Classifies the result of a session.
    ///
    /// A 5yz reply is permanent if it concerns this mail. If it concerns the greeting or the authentication, the
    /// operator must fix the problem, and the mail waits. Spec: RFC 5321 §4.2.1, RFC 4954 §6.
    static func result(of ending: SMTPConnection.Ending, needsSMTPUTF8: Bool) -> DeliveryResult {
        if ending.code == CURLE_OK { return .delivered }
        if needsSMTPUTF8, !ending.offersSMTPUTF8, [CURLE_ABORTED_BY_CALLBACK, CURLE_SEND_ERROR].contains(ending.code) {
            return .refused("the mail server does not take international addresses (SMTPUTF8)")
        }
        let isAboutTheMail =
            (500..<600).contains(ending.reply) && ![530, 534, 535, 538].contains(ending.reply)
            && (ending.code == CURLE_SEND_ERROR || ending.hasBegun)
        return isAboutTheMail ? .refused(words(of: ending)) : .failed(words(of: ending))
    }

    /// Describes a failure, without the server's text, which may contain the address.
    private static func words(of ending: SMTPConnection.Ending) -> String {
        // Whether the server itself refused; otherwise the connection failed.
        guard (400..<600).contains(ending.reply) else {
            return "the mail server: \(SMTPConnection.words(of: ending.code))"
        }
        return "the mail server answered \(ending.reply)" + (ending.enhanced.map { " \($0)" } ?? "")
            + (ending.code == CURLE_LOGIN_DENIED ? ": the name or password is refused" : "")
    }
}

/// A flag that cancels a session.
private final class Cancellation: Sendable {
    let flag = Atomic(false)
}
