import Encodings
import Testing

/// A right value for a setting, and a wrong one.
struct ConfigExample: Sendable, CustomTestStringConvertible {
    let key: String
    let text: String
    let yaml: String
    let shown: String
    /// What it cannot be, besides empty; nil when it may be any text.
    let wrong: String?
    /// What must be set besides.
    let needs: [String: String]

    var testDescription: String { key }

    init(
        _ key: String, _ text: String, not wrong: String?, yaml: String? = nil, shown: String? = nil,
        needs: [String: String] = [:]
    ) {
        self.key = key
        self.text = text
        self.wrong = wrong
        self.yaml = yaml ?? text
        self.shown = shown ?? text
        self.needs = needs
    }

    /// What must be set of APNs besides one of it.
    private static func apns(without name: String) -> [String: String] {
        [
            "TEAM": "TEAM123456", "KEY_ID": "KEY1234567", "KEY_FILE": "AuthKey.p8", "APPS": "com.example.bank",
        ].filter { $0.key != name }.reduce(into: [:]) { $0["COUNTERSIGN_APNS_\($1.key)"] = $1.value }
    }

    private static let smtp = ["COUNTERSIGN_SMTP_HOST": "mail.example.com", "COUNTERSIGN_SMTP_FROM": "a@example.com"]
    private static let account = "AC" + String(repeating: "0", count: 32)

    static let all: [ConfigExample] = [
        ConfigExample("data", "/var/lib/countersign", not: nil),
        ConfigExample("database", "postgres://countersign:secret@db.example.com/countersign", not: "mysql://db/x"),
        ConfigExample("database_connections", "4", not: "0"),
        ConfigExample("database_wakes", "polled", not: "never"),
        ConfigExample("host", "::1", not: "300.0.0.1", yaml: "\"::1\""), ConfigExample("port", "0", not: "65536"),
        ConfigExample("issuer", "https://login.example.com:8443", not: "http://login.example.com"),
        ConfigExample("allow_private_callbacks", "true", not: "True"), ConfigExample("migrate", "false", not: "no"),
        ConfigExample(
            "proxies", "10.0.0.0/8,fd00::/8", not: "10.0.0.1/8", yaml: "[10.0.0.0/8, \"fd00::/8\"]",
            shown: "10.0.0.0/8, fd00::/8"),
        ConfigExample("proxy_header", "forwarded", not: "Forwarded"),
        ConfigExample(
            "client_certificates.from", "proxy-unverified", not: "off", needs: ["COUNTERSIGN_PROXIES": "10.0.0.0/8"]),
        ConfigExample(
            "client_certificates.url", "https://mtls.example.com", not: "https://mtls.example.com/x",
            needs: ["COUNTERSIGN_CLIENT_CERTIFICATES_FROM": "proxy", "COUNTERSIGN_PROXIES": "10.0.0.0/8"]),
        ConfigExample("connections.total", "5000", not: "0"),
        ConfigExample("connections.per_address", "64", not: "0"),
        ConfigExample("metrics.listen", "[::1]:9464", not: "9464", yaml: "\"[::1]:9464\""),
        ConfigExample("apns.team", "TEAM123456", not: "team123456", needs: apns(without: "TEAM")),
        ConfigExample("apns.key_id", "KEY1234567", not: "KEY123456", needs: apns(without: "KEY_ID")),
        ConfigExample("apns.key_file", "AuthKey.p8", not: nil, needs: apns(without: "KEY_FILE")),
        ConfigExample(
            "apns.apps", "com.example.bank,com.example.shop", not: "com.example/bank",
            yaml: "[com.example.bank, com.example.shop]", shown: "com.example.bank, com.example.shop",
            needs: apns(without: "APPS")),
        ConfigExample("apns.url", "https://127.0.0.1:8443", not: nil),
        ConfigExample("apns.authorities", "authorities.pem", not: nil),
        ConfigExample("fcm.account_file", "account.json", not: nil),
        ConfigExample("fcm.url", "https://127.0.0.1:8443", not: nil),
        ConfigExample("fcm.authorities", "authorities.pem", not: nil),
        ConfigExample("smtp.host", "mail.example.com", not: nil, needs: ["COUNTERSIGN_SMTP_FROM": "a@example.com"]),
        ConfigExample("smtp.port", "2525", not: "0"),
        ConfigExample("smtp.security", "implicit", not: "tls"),
        ConfigExample(
            "smtp.from", "login@example.com", not: "login", needs: ["COUNTERSIGN_SMTP_HOST": "mail.example.com"]),
        ConfigExample(
            "smtp.username", "countersign", not: nil,
            needs: smtp.merging(["COUNTERSIGN_SMTP_PASSWORD_FILE": "password"]) { $1 }),
        ConfigExample(
            "smtp.password_file", "/run/secrets/smtp", not: nil,
            needs: smtp.merging(["COUNTERSIGN_SMTP_USERNAME": "countersign"]) { $1 }),
        ConfigExample("smtp.authorities", "authorities.pem", not: nil),
        ConfigExample(
            "sms.twilio_account", account, not: "AC1",
            needs: ["COUNTERSIGN_SMS_TWILIO_TOKEN_FILE": "token", "COUNTERSIGN_SMS_FROM": "ACME"]),
        ConfigExample(
            "sms.twilio_token_file", "/run/secrets/twilio", not: nil,
            needs: ["COUNTERSIGN_SMS_TWILIO_ACCOUNT": account, "COUNTERSIGN_SMS_FROM": "ACME"]),
        ConfigExample(
            "sms.url", "https://gateway.example.com/send", not: nil,
            needs: ["COUNTERSIGN_SMS_BODY": "{{to}}{{text}}", "COUNTERSIGN_SMS_FROM": "ACME"]),
        ConfigExample(
            "sms.from", "+15550000000", not: nil, yaml: "\"+15550000000\"",
            needs: ["COUNTERSIGN_SMS_BODY": "{{to}}{{text}}", "COUNTERSIGN_SMS_URL": "https://gateway.example.com"]),
        ConfigExample("sms.format", "form", not: "xml"),
        ConfigExample(
            "sms.body", "to={{to}}&text={{text}}", not: nil, yaml: "\"to={{to}}&text={{text}}\"",
            needs: ["COUNTERSIGN_SMS_URL": "https://gateway.example.com", "COUNTERSIGN_SMS_FROM": "ACME"]),
        ConfigExample("sms.headers_file", "/run/secrets/headers", not: nil),
        ConfigExample("sms.success", "queued", not: nil),
        ConfigExample(
            "captcha.providers", "own=https://captcha.example.com/verify,turnstile=https://x.example.com",
            not: "own=http://captcha.example.com/verify",
            yaml: "[\"own=https://captcha.example.com/verify\", \"turnstile=https://x.example.com\"]",
            shown: "own=https://captcha.example.com/verify, turnstile=https://x.example.com",
            needs: ["COUNTERSIGN_CAPTCHA_SECRETS_FILE": "/run/secrets/captcha"]),
        ConfigExample(
            "captcha.secrets_file", "/run/secrets/captcha", not: nil,
            needs: ["COUNTERSIGN_CAPTCHA_PROVIDERS": "own=https://captcha.example.com"]),
        ConfigExample("messages.sender", "ACME Bank", not: "two\nlines"),
        ConfigExample("messages.language", "pt-BR", not: "portuguese"),
        ConfigExample("type_file", "/etc/countersign/types.json", not: nil),
        ConfigExample("places_database", "/var/lib/places/city.mmdb", not: nil),
        ConfigExample("pages.help_url", "https://www.example.com/help", not: "http://www.example.com/help"),
        ConfigExample("pages.privacy_url", "https://www.example.com/privacy", not: "privacy.html"),
        ConfigExample("limits.code_asks", "60", not: "0"), ConfigExample("limits.texts", "100", not: "many"),
        ConfigExample("limits.proof_of_work", "always", not: "0"),
        ConfigExample("messages.templates", "/etc/countersign/templates", not: nil),
        ConfigExample("keep_challenges", "30", not: "6"), ConfigExample("keep_receipts", "forever", not: "0"),
        ConfigExample("keep_audit", "365", not: "36501"),
        ConfigExample("log.level", "info", not: "INFO"), ConfigExample("log.format", "json", not: "xml"),
        ConfigExample(
            "master_key", Base64.encode([UInt8](repeating: 9, count: 32)),
            not: Base64.encode([UInt8](repeating: 9, count: 31))),
        ConfigExample("master_key_file", "/run/secrets/key", not: nil),
        ConfigExample("master_key_command", "vault read key", not: nil),
        ConfigExample("tls.certificate", "cert.pem", not: nil, needs: ["COUNTERSIGN_TLS_KEY": "key.pem"]),
        ConfigExample("tls.key", "key.pem", not: nil, needs: ["COUNTERSIGN_TLS_CERTIFICATE": "cert.pem"]),
    ]
}
