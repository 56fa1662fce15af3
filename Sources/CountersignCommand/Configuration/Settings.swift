import CountersignCore
import CountersignDelivery
import CountersignServer
import CountersignStorage
import CountersignWire
import Encodings
import Foundation
import Logging

/// All settings: the file, the environment, the flags, their help and the reference page come from this one table.
enum Settings {
    static let data = Setting<String>.one(
        "data", "the path of a folder", fallback: ("countersign-data", "countersign-data"),
        "The folder that holds everything."
    ) { $0.isEmpty ? nil : $0 }

    static let database = Setting<DatabaseChoice>.one(
        "database", "sqlite:PATH or postgres://USER@HOST[:PORT]/NAME[?OPTION=VALUE], as libpq reads it",
        fallback: (.sqlite(path: nil), "countersign.sqlite in the data folder"), isSensitive: true,
        "The database; several servers may share one on PostgreSQL."
    ) { DatabaseChoice($0) }

    static let databaseConnections = Setting<Int>.one(
        "database_connections", "a number from 1 to 1000",
        fallback: (PostgresSettings.defaultConnections, "\(PostgresSettings.defaultConnections)"),
        "How many connections to PostgreSQL to hold at most."
    ) { text in decimal(text).flatMap { (1...1000).contains($0) ? $0 : nil } }

    static let databaseWakes = Setting<PostgresNoticeMode>.choice(
        "database_wakes", fallback: .notified,
        "How to learn what other servers commit: `polled` where PostgreSQL cannot notify.")

    static let host = Setting<String>.one(
        "host", "an address of this machine, such as 127.0.0.1 or 0.0.0.0", fallback: ("127.0.0.1", "127.0.0.1"),
        "The address to listen on."
    ) { ListenAddress.isHost($0) ? $0 : nil }

    static let port = Setting<Int>.one(
        "port", "a number from 0 to 65535", fallback: (8080, "8080"), "The port to listen on; 0 for a free one."
    ) { text in decimal(text).flatMap { Port.all.contains($0) ? $0 : nil } }

    static let issuer = Setting<Issuer?>.optional(
        "issuer", "https://HOST[:PORT] without a path, or http:// on a loopback host",
        fallbackText: "http:// with host and port",
        "The public URL, such as https://login.example.com. It stands in receipts and signatures: choose it for good."
    ) { Issuer($0) }

    static let allowPrivateCallbacks = Setting<Bool>.switched(
        "allow_private_callbacks", fallback: false,
        """
        Let callbacks go to private addresses, and clients' keys be fetched and captchas verified there, as where \
        relying parties are in the server's own network.
        """)

    static let migrate = Setting<Bool>.switched(
        "migrate", fallback: true,
        "Bring the database to this program's schema at the start; without it `countersign admin migrate` does.")

    static let proxies = Setting<[Network]>.list(
        "proxies", "addresses or networks such as 10.0.0.0/8 or fd00::/8",
        "The proxies that are believed when they say whom a request is from."
    ) { Network($0) }

    static let proxyHeader = Setting<ProxyHeader>.choice(
        "proxy_header", fallback: .xForwardedFor,
        "The header in which those proxies say it. They must set or remove it in every request.")

    static let certificateSource = Setting<CertificateSource>.choice(
        "client_certificates.from", fallback: .off,
        """
        From where the certificates of clients come: from those proxies, in the header Client-Cert, which they must set or \
        remove in every request, verified by them or not; or from the server's own TLS, which verifies none.
        """)

    static let certificateURL = Setting<Issuer?>.optional(
        "client_certificates.url", "https://HOST[:PORT] without a path, or http:// on a loopback host",
        fallbackText: "the issuer",
        "Where clients with certificates call, if not at the issuer, at which browsers would ask people for certificates."
    ) { Issuer($0) }

    static let connections = Setting<Int>.one(
        "connections.total", "a number from 1 to 1000000",
        fallback: (ConnectionLimits().total, "\(ConnectionLimits().total)"),
        "How many connections callers may have at a time. Each is an open file; who comes after waits."
    ) { text in decimal(text).flatMap { (1...1_000_000).contains($0) ? $0 : nil } }

    static let connectionsPerAddress = Setting<Int>.one(
        "connections.per_address", "a number from 1 to 1000000",
        fallback: (ConnectionLimits().perAddress, "\(ConnectionLimits().perAddress)"),
        "How many of them from one address, or half of an IPv6 address; not for this machine and the proxies."
    ) { text in decimal(text).flatMap { (1...1_000_000).contains($0) ? $0 : nil } }

    static let certificate = Setting<String?>.text(
        "tls.certificate", "the path of a PEM file",
        "The certificate chain to speak TLS with, the server's own certificate first. It is read again when it changes."
    )

    static let privateKey = Setting<String?>.text(
        "tls.key", "the path of a PEM file", "The private key of the certificate, not encrypted.")

    static let metrics = Setting<ListenAddress?>.optional(
        "metrics.listen", "ADDRESS:PORT, such as 127.0.0.1:9464", fallbackText: "none: there are no metrics",
        "Where Prometheus reads /metrics. Whoever reaches it reads it: keep it from the public."
    ) { ListenAddress($0) }

    static let apnsTeam = Setting<AppleID?>.optional(
        "apns.team", "10 capital letters and digits", fallbackText: "none: Apple's devices get no pushes",
        "The id of your team at Apple, to send pushes to its apps."
    ) { AppleID($0) }

    static let apnsKeyID = Setting<AppleID?>.optional(
        "apns.key_id", "10 capital letters and digits", fallbackText: "none", "The name of the key for APNs."
    ) { AppleID($0) }

    static let apnsKeyFile = Setting<String?>.text(
        "apns.key_file", "the path of a file", "The key for APNs: the file AuthKey_….p8, as Apple gives it.")

    static let apnsApps = Setting<[AppID]>.list(
        "apns.apps", "bundle identifiers such as com.example.app", "The apps that pushes are sent to."
    ) { AppID($0) }

    static let apnsURL = Setting<String?>.text(
        "apns.url", "https://HOST[:PORT]", "Where to send pushes, instead of Apple's own addresses: for a test.")

    static let apnsAuthorities = Setting<String?>.text(
        "apns.authorities", "the path of a PEM file",
        "The certificates to trust there, instead of the system's: for a test.")

    static let fcmAccount = Setting<String?>.text(
        "fcm.account_file", "the path of a JSON file",
        "The key of the service account that may send by Firebase Cloud Messaging, as Google's console gives it.")

    static let fcmURL = Setting<String?>.text(
        "fcm.url", "https://HOST[:PORT]", "Where to send pushes, instead of Google's own address: for a test.")

    static let fcmAuthorities = Setting<String?>.text(
        "fcm.authorities", "the path of a PEM file",
        "The certificates to trust there, instead of the system's: for a test.")

    static let smtpHost = Setting<String?>.text(
        "smtp.host", "the name or address of a mail server",
        "The mail server that takes the deployment's mail.", fallbackText: "none: there is no mail")

    static let smtpPort = Setting<Int?>.optional(
        "smtp.port", "a number from 1 to 65535", fallbackText: "587, 465 or 25, by smtp.security", "Its port."
    ) { text in decimal(text).flatMap { (1...65535).contains($0) ? $0 : nil } }

    static let smtpSecurity = Setting<SMTPSettings.Security>.choice(
        "smtp.security", fallback: .starttls,
        "How the way to it is secured: TLS after the greeting, TLS from the start, or not at all.")

    static let smtpFrom = Setting<EmailAddress?>.optional(
        "smtp.from", "a mail address", fallbackText: "none", "Whom mail is from."
    ) { EmailAddress($0) }

    static let smtpUsername = Setting<String?>.text(
        "smtp.username", "a name", "The name that the mail server asks for.")

    static let smtpPasswordFile = Setting<String?>.text(
        "smtp.password_file", "the path of a file", "The file with the password that the mail server asks for.")

    static let smtpAuthorities = Setting<String?>.text(
        "smtp.authorities", "the path of a PEM file",
        "The certificates to trust in the mail server, instead of the system's.")

    static let smsTwilioAccount = Setting<String?>.optional(
        "sms.twilio_account", "AC and 32 hexadecimal digits", fallbackText: "none",
        "The SID of your account at Twilio, to send text messages by it."
    ) { $0.wholeMatch(of: /AC[0-9a-f]{32}/) == nil ? nil : $0 }

    static let smsTwilioTokenFile = Setting<String?>.text(
        "sms.twilio_token_file", "the path of a file", "The file with the auth token of that account.")

    static let smsURL = Setting<String?>.text(
        "sms.url", "https://…",
        "Where another gateway for text messages is called; beside an account at Twilio, who answers in its stead.")

    static let smsFrom = Setting<String?>.text(
        "sms.from", "a telephone number, a name, or the SID of a messaging service",
        "Whom text messages are from.", fallbackText: "none: there are no text messages")

    static let smsFormat = Setting<TextGateway.Format>.choice(
        "sms.format", fallback: .json, "How the body of a call to the gateway is written.")

    static let smsBody = Setting<String?>.text(
        "sms.body", "a text with {{to}}, {{from}} and {{text}}", "The body of a call to the gateway.")

    static let smsHeadersFile = Setting<String?>.text(
        "sms.headers_file", "the path of a file",
        "The file with the header fields of a call to the gateway, a line each, such as Authorization: Bearer ….")

    static let smsSuccess = Setting<String?>.text(
        "sms.success", "a text", "What the gateway's reply must hold to mean success, besides a status of 2xx.",
        fallbackText: "nothing")

    static let captchaProviders = Setting<[CaptchaAddress]>.list(
        "captcha.providers", "NAME=https://…",
        "Where to verify the tokens of captchas that challenge types need by these names. A name has 1 to 32 lower "
            + "case letters, digits, - and _, and begins with a letter. http is for localhost, 127.0.0.1 and [::1] alone."
    ) { CaptchaAddress($0) }

    static let captchaSecretsFile = Setting<String?>.text(
        "captcha.secrets_file", "the path of a file",
        "The file with your secrets at those providers, a line NAME: SECRET for each.")

    static let typeFile = Setting<String?>.text(
        "type_file", "the path of a JSON file",
        "Challenge types, as `countersign type list --json` prints them. They are set at each start; others stay.",
        fallbackText: "none")

    static let placesDatabase = Setting<String?>.text(
        "places_database", "the path of a file in MaxMind DB format",
        "Where network addresses are thought to be, as people see it beside them. It is read again when it changes.",
        fallbackText: "none: addresses stand alone")

    static let helpURL = pageLink("pages.help_url", "Where the hosted pages send whoever wants help.")
    static let privacyURL = pageLink(
        "pages.privacy_url", "Where the hosted pages tell what is done with people's data.")

    private static func pageLink(_ key: String, _ summary: String) -> Setting<String?> {
        .optional(key, "an https URL", fallbackText: "no such link", summary) { text in
            let url = URLComponents(string: text)
            return url?.scheme == "https" && url?.host?.isEmpty == false ? text : nil
        }
    }

    static let codeAsks = Setting<Int>.one(
        "limits.code_asks", "a number from 1 to 1000000",
        fallback: (ClientLimits().codeAsks, "\(ClientLimits().codeAsks)"),
        "How many questions by a code a client may ask in a minute, for no user's limit counts them; and how many "
            + "sign-ins by QR code it may begin, and how many on devices without a browser, each counted by itself."
    ) { text in decimal(text).flatMap { (1...1_000_000).contains($0) ? $0 : nil } }

    static let clientTexts = Setting<Int>.one(
        "limits.texts", "a number from 1 to 1000000", fallback: (ClientLimits().texts, "\(ClientLimits().texts)"),
        "How many codes a client may have sent by text message in an hour."
    ) { text in decimal(text).flatMap { (1...1_000_000).contains($0) ? $0 : nil } }

    static let proofOfWork = Setting<WorkLimit>.one(
        "limits.proof_of_work", "a number from 1 to 1000000, always or off",
        fallback: (ClientLimits().work, "\(WorkLimit.usual)"),
        "After how many sign-ins in a minute by which unknown browsers have codes sent or devices asked, over all "
            + "clients, the next ones need a proof of work."
    ) { text in
        switch text {
        case "off": .off
        case "always": .always
        default: decimal(text).flatMap { (1...1_000_000).contains($0) ? .after($0) : nil }
        }
    }

    static let messagesSender = Setting<String?>.optional(
        "messages.sender", "a line of text", fallbackText: "the issuer's host",
        "Whom messages to people are from, by the name they know."
    ) { try? DisplayLine($0, atMost: 64).text }

    static let messagesLanguage = Setting<LanguageTag>.one(
        "messages.language", "a language, such as de or pt-BR", fallback: (.english, "en"),
        "The language of messages to people of whom it is not known."
    ) { LanguageTag($0) }

    static let messagesTemplates = Setting<String?>.text(
        "messages.templates", "the path of a folder",
        "Your own texts of messages to people, in a folder for each language.",
        fallbackText: "the program's own, in en and de")

    static let keepChallenges = Setting<Retention.Span>.kept(
        "keep_challenges", fallback: Retention().challenges, atLeast: Retention.fewestDaysOfChallenges,
        "For how long questions are kept once they have ended. Their receipts are kept by keep_receipts.")

    static let keepReceipts = Setting<Retention.Span>.kept(
        "keep_receipts", fallback: Retention().receipts,
        "For how long receipts are kept. What they prove can be proved by nobody after, but who has a copy.")

    static let keepAudit = Setting<Retention.Span>.kept(
        "keep_audit", fallback: Retention().audit, "For how long the audit is kept.")

    static let logLevel = Setting<Logger.Level>.choice(
        "log.level", fallback: .warning, "What is logged: this and what is graver. At info every request is.")

    static let logFormat = Setting<LogFormat>.choice(
        "log.format", fallback: .text, "How a line of the log is written.")

    static let masterKey = Setting<MasterKeyText?>.optional(
        "master_key", "the base64 of 32 bytes", fallbackText: "master.key in the data folder", isSecret: true,
        "The key that wraps the keys in the database."
    ) { MasterKeyText($0) }

    static let masterKeyFile = Setting<String?>.text(
        "master_key_file", "the path of a file", "A file that holds the master key.",
        fallbackText: "master.key in the data folder")

    static let masterKeyCommand = Setting<String?>.text(
        "master_key_command", "a command for /bin/sh", "A command that prints the master key.",
        fallbackText: "master.key in the data folder")

    /// All settings, in the order of the reference page.
    static let all: [AnySetting] = [
        AnySetting(data), AnySetting(database), AnySetting(databaseConnections), AnySetting(databaseWakes),
        AnySetting(host), AnySetting(port), AnySetting(issuer), AnySetting(allowPrivateCallbacks),
        AnySetting(migrate), AnySetting(certificate), AnySetting(privateKey), AnySetting(proxies),
        AnySetting(proxyHeader), AnySetting(certificateSource), AnySetting(certificateURL), AnySetting(connections),
        AnySetting(connectionsPerAddress), AnySetting(metrics),
        AnySetting(apnsTeam), AnySetting(apnsKeyID), AnySetting(apnsKeyFile), AnySetting(apnsApps), AnySetting(apnsURL),
        AnySetting(apnsAuthorities),
        AnySetting(fcmAccount), AnySetting(fcmURL), AnySetting(fcmAuthorities),
        AnySetting(smtpHost), AnySetting(smtpPort), AnySetting(smtpSecurity), AnySetting(smtpFrom),
        AnySetting(smtpUsername), AnySetting(smtpPasswordFile), AnySetting(smtpAuthorities),
        AnySetting(smsTwilioAccount), AnySetting(smsTwilioTokenFile), AnySetting(smsURL), AnySetting(smsFrom),
        AnySetting(smsFormat), AnySetting(smsBody), AnySetting(smsHeadersFile), AnySetting(smsSuccess),
        AnySetting(captchaProviders), AnySetting(captchaSecretsFile),
        AnySetting(typeFile), AnySetting(placesDatabase), AnySetting(helpURL), AnySetting(privacyURL),
        AnySetting(messagesSender), AnySetting(messagesLanguage), AnySetting(messagesTemplates),
        AnySetting(keepChallenges), AnySetting(keepReceipts), AnySetting(keepAudit),
        AnySetting(codeAsks), AnySetting(clientTexts), AnySetting(proofOfWork),
        AnySetting(logLevel), AnySetting(logFormat),
        AnySetting(masterKey), AnySetting(masterKeyFile), AnySetting(masterKeyCommand),
    ]

    /// Variables that other commands or the build read, or that name the file itself.
    static let otherVariables = [
        "COUNTERSIGN_CONFIG", "COUNTERSIGN_URL", "COUNTERSIGN_TOKEN", "COUNTERSIGN_DEVICE_HOME",
        BasicOptions.variable, "COUNTERSIGN_BUILD_DIR",
    ]

    /// A decimal number in its usual spelling.
    static func decimal(_ text: String) -> Int? {
        guard let number = Int(text), "\(number)".hasSameBytes(as: text) else { return nil }
        return number
    }
}

/// A master key from the environment; it is not printed.
struct MasterKeyText: Sendable {
    let key: Secret<String>

    init?(_ text: String) {
        guard Base64.decode(text)?.count == 32 else { return nil }
        key = Secret(text)
    }
}

extension Setting where Value == Retention.Span {
    /// A setting that is a number of days, or `forever`.
    fileprivate static func kept(
        _ key: String, fallback: Retention.Span, atLeast fewest: Int64 = 1, _ summary: String
    ) -> Setting {
        .one(
            key, "a number of days from \(fewest) to \(Retention.Span.maximum), or forever",
            fallback: (fallback, "\(fallback)"), summary
        ) { text in
            if text.hasSameBytes(as: "forever") { return .forever }
            return Settings.decimal(text).flatMap {
                (fewest...Retention.Span.maximum).contains(Int64($0)) ? .days(Int64($0)) : nil
            }
        }
    }
}
