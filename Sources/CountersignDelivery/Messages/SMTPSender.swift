import CCurl
import CountersignWire
import NIOPosix
import Synchronization

/// Hands mails to a mail server.
///
/// libcurl speaks SMTP, on threads of its own: a server that does not answer holds up other mails, and nothing else.
/// Spec: RFC 5321 §3.3.
package final class SMTPSender: Sendable {
    /// How many mails are on their way at once.
    package static let atOnce = 8

    private let settings: SMTPSettings
    private let threads: NIOThreadPool
    /// Connections that nobody uses now, the one used last at the end.
    private let idle = Mutex<[SMTPConnection]>([])

    /// A sender; whoever makes it shuts it down.
    package init(_ settings: SMTPSettings) {
        self.settings = settings
        threads = NIOThreadPool(numberOfThreads: Self.atOnce)
        threads.start()
    }

    /// Ends the threads; what is under way is given up.
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

    /// Greets the server and signs in, and sends nothing.
    ///
    /// - Returns: why it does not work; nil when it does.
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

    /// What came of it.
    ///
    /// A server's 5yz is for good when it is about this mail; about the greeting or the password it is for an operator
    /// to mend, and the mail waits. Spec: RFC 5321 §4.2.1, RFC 4954 §6.
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

    /// What went wrong; what the server said is not repeated, because it may name the address.
    private static func words(of ending: SMTPConnection.Ending) -> String {
        // Refused by the server itself, and not by what lies between.
        guard (400..<600).contains(ending.reply) else {
            return "the mail server: \(SMTPConnection.words(of: ending.code))"
        }
        return "the mail server answered \(ending.reply)" + (ending.enhanced.map { " \($0)" } ?? "")
            + (ending.code == CURLE_LOGIN_DENIED ? ": the name or password is refused" : "")
    }
}

/// Whether somebody has given up.
private final class Cancellation: Sendable {
    let flag = Atomic(false)
}
