import ArgumentParser
import CountersignCore
import CountersignDelivery
import CountersignServer
import CountersignStorage
import CountersignWire
import Foundation
import Logging

/// Where a command finds the settings of the server.
struct ServerOptions: ParsableArguments {
    @Option(help: "The file with settings. (default: $COUNTERSIGN_CONFIG, else countersign.yaml if there is one)")
    var config: String?

    @Option(help: Settings.data.description.help)
    var data: String?

    @Option(help: Settings.database.description.help)
    var database: String?

    /// The operator's settings.
    func configuration(
        _ more: [String: [String]] = [:], environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ConfigurationFaults) -> Configuration {
        var flags = more
        if let data { flags[Settings.data.description.key] = [data] }
        if let database { flags[Settings.database.description.key] = [database] }
        return try Configuration(flags: flags, file: config, environment: environment)
    }
}

/// The settings that `serve` and `config check` accept as flags.
struct ServeOptions: ParsableArguments {
    @OptionGroup var server: ServerOptions

    @Option(help: Settings.databaseConnections.description.help)
    var databaseConnections: String?

    @Option(help: Settings.databaseWakes.description.help)
    var databaseWakes: String?

    @Option(help: Settings.host.description.help)
    var host: String?

    @Option(help: Settings.port.description.help)
    var port: String?

    @Option(help: Settings.issuer.description.help)
    var issuer: String?

    @Flag(inversion: .prefixedNo, help: Settings.allowPrivateCallbacks.description.help)
    var allowPrivateCallbacks: Bool?

    @Flag(inversion: .prefixedNo, help: Settings.migrate.description.help)
    var migrate: Bool?

    @Option(help: Settings.certificate.description.help)
    var tlsCertificate: String?

    @Option(help: Settings.privateKey.description.help)
    var tlsKey: String?

    @Option(help: Settings.proxies.description.help)
    var proxies: [String] = []

    @Option(help: Settings.proxyHeader.description.help)
    var proxyHeader: String?

    @Option(help: Settings.certificateSource.description.help)
    var clientCertificatesFrom: String?

    @Option(help: Settings.certificateURL.description.help)
    var clientCertificatesURL: String?

    @Option(help: Settings.connections.description.help)
    var connectionsTotal: String?

    @Option(help: Settings.connectionsPerAddress.description.help)
    var connectionsPerAddress: String?

    @Option(help: Settings.metrics.description.help)
    var metricsListen: String?

    @Option(help: Settings.apnsTeam.description.help)
    var apnsTeam: String?

    @Option(name: .customLong("apns-key-id"), help: Settings.apnsKeyID.description.help)
    var apnsKeyID: String?

    @Option(help: Settings.apnsKeyFile.description.help)
    var apnsKeyFile: String?

    @Option(help: Settings.apnsApps.description.help)
    var apnsApps: [String] = []

    @Option(name: .customLong("apns-url"), help: Settings.apnsURL.description.help)
    var apnsURL: String?

    @Option(help: Settings.apnsAuthorities.description.help)
    var apnsAuthorities: String?

    @Option(help: Settings.fcmAccount.description.help)
    var fcmAccountFile: String?

    @Option(name: .customLong("fcm-url"), help: Settings.fcmURL.description.help)
    var fcmURL: String?

    @Option(help: Settings.fcmAuthorities.description.help)
    var fcmAuthorities: String?

    @Option(help: Settings.smtpHost.description.help)
    var smtpHost: String?

    @Option(help: Settings.smtpPort.description.help)
    var smtpPort: String?

    @Option(help: Settings.smtpSecurity.description.help)
    var smtpSecurity: String?

    @Option(help: Settings.smtpFrom.description.help)
    var smtpFrom: String?

    @Option(help: Settings.smtpUsername.description.help)
    var smtpUsername: String?

    @Option(help: Settings.smtpPasswordFile.description.help)
    var smtpPasswordFile: String?

    @Option(help: Settings.smtpAuthorities.description.help)
    var smtpAuthorities: String?

    @Option(help: Settings.smsTwilioAccount.description.help)
    var smsTwilioAccount: String?

    @Option(help: Settings.smsTwilioTokenFile.description.help)
    var smsTwilioTokenFile: String?

    @Option(name: .customLong("sms-url"), help: Settings.smsURL.description.help)
    var smsURL: String?

    @Option(help: Settings.smsFrom.description.help)
    var smsFrom: String?

    @Option(help: Settings.smsFormat.description.help)
    var smsFormat: String?

    @Option(help: Settings.smsBody.description.help)
    var smsBody: String?

    @Option(help: Settings.smsHeadersFile.description.help)
    var smsHeadersFile: String?

    @Option(help: Settings.smsSuccess.description.help)
    var smsSuccess: String?

    @Option(help: Settings.captchaProviders.description.help)
    var captchaProviders: [String] = []

    @Option(help: Settings.captchaSecretsFile.description.help)
    var captchaSecretsFile: String?

    @Option(help: Settings.typeFile.description.help)
    var typeFile: String?

    @Option(help: Settings.placesDatabase.description.help)
    var placesDatabase: String?

    @Option(name: .customLong("pages-help-url"), help: Settings.helpURL.description.help)
    var pagesHelpURL: String?

    @Option(name: .customLong("pages-privacy-url"), help: Settings.privacyURL.description.help)
    var pagesPrivacyURL: String?

    @Option(help: Settings.codeAsks.description.help)
    var limitsCodeAsks: String?

    @Option(help: Settings.clientTexts.description.help)
    var limitsTexts: String?

    @Option(help: Settings.proofOfWork.description.help)
    var limitsProofOfWork: String?

    @Option(help: Settings.messagesSender.description.help)
    var messagesSender: String?

    @Option(help: Settings.messagesLanguage.description.help)
    var messagesLanguage: String?

    @Option(help: Settings.messagesTemplates.description.help)
    var messagesTemplates: String?

    @Option(help: Settings.keepChallenges.description.help)
    var keepChallenges: String?

    @Option(help: Settings.keepReceipts.description.help)
    var keepReceipts: String?

    @Option(help: Settings.keepAudit.description.help)
    var keepAudit: String?

    @Option(help: Settings.logLevel.description.help)
    var logLevel: String?

    @Option(help: Settings.logFormat.description.help)
    var logFormat: String?

    @Option(help: Settings.masterKeyFile.description.help)
    var masterKeyFile: String?

    @Option(help: Settings.masterKeyCommand.description.help)
    var masterKeyCommand: String?

    /// The operator's settings.
    func configuration(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ConfigurationFaults) -> Configuration {
        var flags: [String: [String]] = [:]
        func set(_ setting: SettingDescription, _ values: [String?]) {
            let values = values.compactMap { $0 }
            if !values.isEmpty { flags[setting.key] = values }
        }
        set(Settings.databaseConnections.description, [databaseConnections])
        set(Settings.databaseWakes.description, [databaseWakes])
        set(Settings.host.description, [host])
        set(Settings.port.description, [port])
        set(Settings.issuer.description, [issuer])
        set(Settings.allowPrivateCallbacks.description, [allowPrivateCallbacks.map { "\($0)" }])
        set(Settings.migrate.description, [migrate.map { "\($0)" }])
        set(Settings.certificate.description, [tlsCertificate])
        set(Settings.privateKey.description, [tlsKey])
        set(Settings.proxies.description, proxies)
        set(Settings.proxyHeader.description, [proxyHeader])
        set(Settings.certificateSource.description, [clientCertificatesFrom])
        set(Settings.certificateURL.description, [clientCertificatesURL])
        set(Settings.connections.description, [connectionsTotal])
        set(Settings.connectionsPerAddress.description, [connectionsPerAddress])
        set(Settings.metrics.description, [metricsListen])
        set(Settings.apnsTeam.description, [apnsTeam])
        set(Settings.apnsKeyID.description, [apnsKeyID])
        set(Settings.apnsKeyFile.description, [apnsKeyFile])
        set(Settings.apnsApps.description, apnsApps)
        set(Settings.apnsURL.description, [apnsURL])
        set(Settings.apnsAuthorities.description, [apnsAuthorities])
        set(Settings.fcmAccount.description, [fcmAccountFile])
        set(Settings.fcmURL.description, [fcmURL])
        set(Settings.fcmAuthorities.description, [fcmAuthorities])
        set(Settings.smtpHost.description, [smtpHost])
        set(Settings.smtpPort.description, [smtpPort])
        set(Settings.smtpSecurity.description, [smtpSecurity])
        set(Settings.smtpFrom.description, [smtpFrom])
        set(Settings.smtpUsername.description, [smtpUsername])
        set(Settings.smtpPasswordFile.description, [smtpPasswordFile])
        set(Settings.smtpAuthorities.description, [smtpAuthorities])
        set(Settings.smsTwilioAccount.description, [smsTwilioAccount])
        set(Settings.smsTwilioTokenFile.description, [smsTwilioTokenFile])
        set(Settings.smsURL.description, [smsURL])
        set(Settings.smsFrom.description, [smsFrom])
        set(Settings.smsFormat.description, [smsFormat])
        set(Settings.smsBody.description, [smsBody])
        set(Settings.smsHeadersFile.description, [smsHeadersFile])
        set(Settings.smsSuccess.description, [smsSuccess])
        set(Settings.captchaProviders.description, captchaProviders)
        set(Settings.captchaSecretsFile.description, [captchaSecretsFile])
        set(Settings.typeFile.description, [typeFile])
        set(Settings.placesDatabase.description, [placesDatabase])
        set(Settings.helpURL.description, [pagesHelpURL])
        set(Settings.privacyURL.description, [pagesPrivacyURL])
        set(Settings.codeAsks.description, [limitsCodeAsks])
        set(Settings.clientTexts.description, [limitsTexts])
        set(Settings.proofOfWork.description, [limitsProofOfWork])
        set(Settings.messagesSender.description, [messagesSender])
        set(Settings.messagesLanguage.description, [messagesLanguage])
        set(Settings.messagesTemplates.description, [messagesTemplates])
        set(Settings.keepChallenges.description, [keepChallenges])
        set(Settings.keepReceipts.description, [keepReceipts])
        set(Settings.keepAudit.description, [keepAudit])
        set(Settings.logLevel.description, [logLevel])
        set(Settings.logFormat.description, [logFormat])
        set(Settings.masterKeyFile.description, [masterKeyFile])
        set(Settings.masterKeyCommand.description, [masterKeyCommand])
        return try server.configuration(flags, environment: environment)
    }
}

extension ServerSettings {
    /// The operator's settings for a server.
    init(_ configuration: Configuration) {
        self.init(
            dataFolder: configuration[Settings.data], host: configuration[Settings.host],
            port: configuration[Settings.port], issuer: configuration[Settings.issuer])
        database = configuration[Settings.database]
        if case .postgresql(var server) = database {
            server.connections = configuration[Settings.databaseConnections]
            server.notices = configuration[Settings.databaseWakes]
            database = .postgresql(server)
        }
        allowsPrivateCallbacks = configuration[Settings.allowPrivateCallbacks]
        migrates = configuration[Settings.migrate]
        proxies = TrustedProxies(
            networks: configuration[Settings.proxies], header: configuration[Settings.proxyHeader],
            certificates: configuration[Settings.certificateSource])
        certificateURL = configuration[Settings.certificateURL]
        connections = ConnectionLimits(
            total: configuration[Settings.connections], perAddress: configuration[Settings.connectionsPerAddress])
        metrics = configuration[Settings.metrics]
        if let certificate = configuration[Settings.certificate], let key = configuration[Settings.privateKey] {
            tls = TLSFiles(certificate: certificate, key: key)
        }
        if let team = configuration[Settings.apnsTeam], let keyID = configuration[Settings.apnsKeyID],
            let keyFile = configuration[Settings.apnsKeyFile]
        {
            var files = APNsFiles(
                team: team, keyID: keyID, keyFile: keyFile, apps: configuration[Settings.apnsApps])
            files.url = configuration[Settings.apnsURL]
            files.authorities = configuration[Settings.apnsAuthorities]
            apns = files
        }
        if let account = configuration[Settings.fcmAccount] {
            var files = FCMFiles(account: account)
            files.url = configuration[Settings.fcmURL]
            files.authorities = configuration[Settings.fcmAuthorities]
            fcm = files
        }
        if let secretsFile = configuration[Settings.captchaSecretsFile] {
            captchas = CaptchaFiles(addresses: configuration[Settings.captchaProviders], secretsFile: secretsFile)
        }
        typeFile = configuration[Settings.typeFile]
        placesDatabase = configuration[Settings.placesDatabase]
        pageLinks.help = configuration[Settings.helpURL]
        pageLinks.privacy = configuration[Settings.privacyURL]
        retention.challenges = configuration[Settings.keepChallenges]
        retention.receipts = configuration[Settings.keepReceipts]
        retention.audit = configuration[Settings.keepAudit]
        limits.codeAsks = configuration[Settings.codeAsks]
        limits.texts = configuration[Settings.clientTexts]
        limits.work = configuration[Settings.proofOfWork]
        setMessages(configuration)
        if let text = configuration[Settings.masterKey] {
            masterKey = .text(text.key)
        } else if let path = configuration[Settings.masterKeyFile] {
            masterKey = .file(path)
        } else if let command = configuration[Settings.masterKeyCommand] {
            masterKey = .command(command)
        }
    }
}

extension ServerSettings {
    /// Sets the options for messages to people.
    fileprivate mutating func setMessages(_ configuration: Configuration) {
        if let host = configuration[Settings.smtpHost], let from = configuration[Settings.smtpFrom] {
            var server = SMTPSettings(
                host: host, port: configuration[Settings.smtpPort], security: configuration[Settings.smtpSecurity],
                from: from)
            server.authorities = configuration[Settings.smtpAuthorities]
            var files = MailFiles(server: server)
            files.username = configuration[Settings.smtpUsername]
            files.passwordFile = configuration[Settings.smtpPasswordFile]
            mail = files
        }
        if let from = configuration[Settings.smsFrom] {
            if let account = configuration[Settings.smsTwilioAccount],
                let tokenFile = configuration[Settings.smsTwilioTokenFile]
            {
                texts = .twilio(
                    account: account, tokenFile: tokenFile, from: from, url: configuration[Settings.smsURL])
            } else if let url = configuration[Settings.smsURL], let body = configuration[Settings.smsBody] {
                var gateway = DescribedGateway(
                    url: url, format: configuration[Settings.smsFormat], body: body, from: from)
                gateway.headersFile = configuration[Settings.smsHeadersFile]
                gateway.success = configuration[Settings.smsSuccess]
                texts = .described(gateway)
            }
        }
        messages.sender = configuration[Settings.messagesSender]
        messages.language = configuration[Settings.messagesLanguage]
        messages.folder = configuration[Settings.messagesTemplates]
    }
}
