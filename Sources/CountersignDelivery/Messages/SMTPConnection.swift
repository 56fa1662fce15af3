import CCurl
import CountersignWire
import Encodings
import Synchronization

/// A connection to a mail server, used by one thread at a time; libcurl keeps it open between mails.
final class SMTPConnection: Sendable {
    /// The result of an SMTP session.
    struct Ending: Sendable {
        /// libcurl's result code.
        let code: CURLcode
        /// The server's last reply code; 0 for none.
        let reply: Int
        /// The enhanced status code of the reply, such as `5.1.1`.
        ///
        /// Spec: RFC 3463 §2.
        let enhanced: String?
        /// Whether sending the message itself had begun.
        let hasBegun: Bool
        /// Whether the server supports internationalised addresses.
        let offersSMTPUTF8: Bool
    }

    /// The time limits for connecting and in total, in seconds; less than a lease, so that no other node sends the mail
    /// meanwhile.
    private static let limits = (connecting: 10, all: 30)

    /// The address of libcurl's handle, as a number, because the handle moves between threads.
    ///
    /// libcurl allows that if only one thread at a time uses the handle; see libcurl-thread(3).
    private let address: UInt
    private var handle: UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: address) }

    /// Creates a connection that opens at its first use; nil when memory is insufficient.
    init?() {
        guard Self.isReady, let handle = curl_easy_init() else { return nil }
        address = UInt(bitPattern: handle)
    }

    deinit { curl_easy_cleanup(handle) }

    /// Initialises libcurl once for the process.
    private static let isReady = curl_global_init(CLong(CURL_GLOBAL_ALL)) == CURLE_OK

    /// Sends a mail, or only checks the connection.
    ///
    /// It blocks its thread.
    ///
    /// - Parameters:
    ///   - message: the mail; nil to only greet and authenticate.
    ///   - settings: the server.
    ///   - isCancelled: called about once a second; true aborts the session.
    func run(_ message: MailMessage?, _ settings: SMTPSettings, isCancelled: @escaping () -> Bool) -> Ending {
        // The reset keeps open connections.
        curl_easy_reset(handle)
        let conversation = Conversation(
            message?.bytes ?? [], needsSMTPUTF8: message?.to.needsSMTPUTF8 == true, isCancelled)
        prepare(settings)
        var recipients: UnsafeMutablePointer<curl_slist>?
        defer { curl_slist_free_all(recipients) }
        if let message {
            recipients = curl_slist_append(nil, "<\(message.to.onTheWire)>")
            _ = curl_set_string(handle, CURLOPT_MAIL_FROM, "<\(settings.from.onTheWire)>")
            _ = curl_set_list(handle, CURLOPT_MAIL_RCPT, recipients)
            _ = curl_set_long(handle, CURLOPT_UPLOAD, 1)
            // The server announces its extensions only in reply to EHLO, so a new connection is needed.
            if message.to.needsSMTPUTF8 {
                _ = curl_set_long(handle, CURLOPT_FRESH_CONNECT, 1)
                _ = curl_set_long(handle, CURLOPT_FORBID_REUSE, 1)
            }
        } else {
            _ = curl_set_string(handle, CURLOPT_CUSTOMREQUEST, "NOOP")
            _ = curl_set_long(handle, CURLOPT_NOBODY, 1)
        }
        let context = Unmanaged.passUnretained(conversation).toOpaque()
        _ = curl_set_callbacks(handle, context, readMessage, hearLine, goOn)
        let code = withExtendedLifetime(conversation) { curl_easy_perform(handle) }
        return Ending(
            code: code, reply: Int(curl_response_code(handle)), enhanced: conversation.enhanced,
            hasBegun: conversation.hasBegun, offersSMTPUTF8: conversation.offersSMTPUTF8)
    }

    private func prepare(_ settings: SMTPSettings) {
        func set(_ option: CURLoption, _ text: String) { _ = curl_set_string(handle, option, text) }
        func set(_ option: CURLoption, _ number: Int) { _ = curl_set_long(handle, option, number) }
        set(CURLOPT_URL, settings.url)
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_CONNECTTIMEOUT, Self.limits.connecting)
        set(CURLOPT_TIMEOUT, Self.limits.all)
        // Ignores a proxy that the environment names.
        set(CURLOPT_NOPROXY, "*")
        set(CURLOPT_USE_SSL, settings.security == .starttls ? Int(CURLUSESSL_ALL.rawValue) : 0)
        set(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
        if let authorities = settings.authorities {
            set(CURLOPT_CAINFO, authorities)
            // Trusts only the certificates in the file.
            _ = curl_set_string(handle, CURLOPT_CAPATH, nil)
        }
        if let credentials = settings.credentials {
            set(CURLOPT_USERNAME, credentials.username)
            set(CURLOPT_PASSWORD, credentials.password.reveal())
        }
    }

    /// libcurl's description of a result code.
    static func words(of code: CURLcode) -> String { String(cString: curl_easy_strerror(code)) }
}

/// The state of one SMTP session, for libcurl's callbacks.
private final class Conversation {
    private var rest: ArraySlice<UInt8>
    private let needsSMTPUTF8: Bool
    let isCancelled: () -> Bool
    private(set) var hasBegun = false
    private(set) var offersSMTPUTF8 = false
    private(set) var enhanced: String?

    init(_ message: [UInt8], needsSMTPUTF8: Bool, _ isCancelled: @escaping () -> Bool) {
        rest = message[...]
        self.needsSMTPUTF8 = needsSMTPUTF8
        self.isCancelled = isCancelled
    }

    /// Processes a line from the server.
    func hear(_ line: Substring) {
        let words = line.split { " -\r\n".contains($0) }
        // Each extension is on its own line. Spec: RFC 5321 §4.1.1.1.
        if line.hasPrefix("250"), words.count == 2, words[1].uppercased() == "SMTPUTF8" { offersSMTPUTF8 = true }
        // The reply to QUIT follows a refusal and must not replace its code.
        guard let first = line.utf8.first, "45".utf8.contains(first) else { return }
        enhanced = words.dropFirst().first.flatMap { word in
            let parts = word.split(separator: ".", omittingEmptySubsequences: false)
            let isCode =
                parts.count == 3 && parts.allSatisfy { (1...3).contains($0.count) && $0.allSatisfy(\.isNumber) }
            return isCode ? String(word) : nil
        }
    }

    /// Reads the next bytes of the message; nil when it must not be sent.
    func read(into buffer: UnsafeMutableBufferPointer<CChar>) -> Int? {
        // The server does not support the recipient's internationalised address, so it must not get the message.
        guard offersSMTPUTF8 || !needsSMTPUTF8 else { return nil }
        hasBegun = true
        let part = rest.prefix(buffer.count)
        for (index, byte) in part.enumerated() { buffer[index] = CChar(bitPattern: byte) }
        rest = rest.dropFirst(part.count)
        return part.count
    }

    static func at(_ context: UnsafeMutableRawPointer) -> Conversation {
        Unmanaged<Conversation>.fromOpaque(context).takeUnretainedValue()
    }
}

private let readMessage: curl_read_callback = { buffer, size, count, context in
    guard let buffer, let context else { return Int(CURL_READFUNC_ABORT) }
    let space = UnsafeMutableBufferPointer(start: buffer, count: size * count)
    return Conversation.at(context).read(into: space) ?? Int(CURL_READFUNC_ABORT)
}

private let hearLine: curl_write_callback = { buffer, size, count, context in
    guard let buffer, let context else { return 0 }
    let bytes = UnsafeRawBufferPointer(start: buffer, count: size * count)
    Conversation.at(context).hear(String(decoding: bytes, as: UTF8.self)[...])
    return size * count
}

private let goOn: curl_xferinfo_callback = { context, _, _, _, _ in
    guard let context else { return 0 }
    return Conversation.at(context).isCancelled() ? 1 : 0
}
