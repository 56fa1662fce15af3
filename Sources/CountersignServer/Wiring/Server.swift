package import CountersignCore
import CountersignDelivery
import CountersignStorage
package import CountersignWire
package import Encodings
import AsyncHTTPClient
import Foundation
import Hummingbird
import HummingbirdCore
package import Logging
import NIOCore
import ServiceLifecycle
package import UnixSignals

/// A server: storage, delivery and HTTP, connected with each other.
package struct Server: Sendable {
    /// How long a graceful shutdown may take.
    private static let shutdownLimit = Duration.seconds(10)

    /// The deployment's public base URL.
    package let issuer: Issuer
    package let dataFolder: String
    /// The bootstrap token, if this is the first start.
    package let bootstrapToken: Secret<String>?
    /// The routes of the native API, for a comparison with the OpenAPI document.
    package var routes: [RegisteredRoute] { RouteTable(doors.suffix(1)).registered }
    /// In development mode, the codes to scan that its pages show, for a phone without a camera; only the newest is kept
    /// until it is read.
    package var shownCodes: AsyncStream<String> { resources.shownCodes }
    private let resources: DoorResources
    /// All doors; the last one serves the paths that no other door has.
    private let doors: [any Door]
    private let developmentOutbox: DevelopmentOutbox?
    private let hub: ChangeHub
    private let store: SQLStore
    private let reach: OutboundAddressPolicy
    private let hooks: HookCaller
    private let clientKeys: KeyFetcher
    private let captchas: CaptchaVerifier
    private let keyRefresh: KeyRefresh
    private let settings: ServerSettings
    private let lock: FolderLock
    private let certificates: Certificates?
    private let places: PlacesFile?
    private let requests: RequestCounts?
    private let connections: ConnectionCounts
    private let load: LoadLimit
    private let logger: Logger

    /// Opens or creates everything that a server needs; it does not listen yet.
    ///
    /// - Parameters:
    ///   - settings: the operator's settings.
    ///   - environment: the environment, which may hold the master key.
    ///   - logger: the server's log.
    /// - Throws: ``StartError`` for problems that an operator can solve.
    package init(
        _ settings: ServerSettings, environment: [String: String], logger: Logger
    ) async throws {
        try await self.init(settings, environment: environment, logger: logger, time: SystemTime())
    }

    /// Creates a server with a source of the current time other than the system clock, and perhaps other RSA keys than
    /// new ones.
    package init(
        _ settings: ServerSettings, environment: [String: String], logger: Logger, time: any TimeSource,
        rsaKeys: any RSAKeySource = NewRSAKeys()
    ) async throws {
        try await self.init(
            settings, environment: environment, logger: logger, time: time, rsaKeys: rsaKeys
        ) { _ in [] }
    }

    /// Creates a server with more doors than the native API.
    init(
        _ settings: ServerSettings, environment: [String: String], logger: Logger, time: any TimeSource,
        rsaKeys: any RSAKeySource = NewRSAKeys(), doors: (DoorResources) -> [any Door]
    ) async throws {
        var settings = settings
        if settings.port == 0 { settings.port = try Self.freePort(host: settings.host) }
        let source = settings.proxies.certificates
        // Otherwise anybody could write what only our own TLS may.
        // check: ClientCertificateFieldTests.withoutTLS
        guard source != .tls || settings.tls != nil else {
            throw StartError("Without a certificate of its own the server cannot ask for those of clients: name one.")
        }
        certificates = try settings.tls.map {
            try Certificates($0, asksForCertificates: source == .tls, logger: logger)
        }
        let folder = try DataFolder(settings)
        lock = try folder.lock()
        places = try settings.placesDatabase.map {
            try PlacesFile($0, copiedTo: folder.placesCopy, logger: logger)
        }
        let scheme = settings.tls == nil ? "http" : "https"
        guard let issuer = settings.issuer ?? Issuer("\(scheme)://\(settings.host):\(settings.port)") else {
            throw StartError("Name the public URL with --issuer: \(settings.host) is not this machine's own address.")
        }
        let providers = try settings.captchas?.providers() ?? [:]
        let types =
            try settings.typeFile.map { path throws(StartError) in
                try TypeFile.types(in: path, with: settings.captchaNames)
            } ?? []
        let isDevelopment = issuer.isLoopback && settings.listensOnLoopback
        let random = SystemRandom()
        let hub = ChangeHub(time: time)
        let opened = try await OpenedStore.open(
            settings, folder, hub: hub, issuer: issuer, environment: environment, logger: logger
        ) { store in
            try await OpenedStore.readKeys(of: store, at: time.now, random: random)
            let outcome = try await FirstStart.prepare(store: store, time: time, random: random) {
                try folder.write(bootstrapToken: $0)
            }
            if !types.isEmpty { try await SetType.set(types, store: store, time: time, random: random) }
            return outcome
        }
        let store = opened.store
        switch opened.prepared {
        case .prepared(let token): bootstrapToken = token
        case .alreadyPrepared: bootstrapToken = nil
        }
        if opened.isAlone {
            // This server holds the folder's lock, so the processes that held the leases are dead.
            do {
                try await store.endLeases(at: time.now, longest: OutboxWorker.lease)
            } catch StoreError.full {
                // The leases end by themselves; a server that refuses changes and goes on with reads is worth more.
                logger.warning(
                    """
                    there is no room on the database's disk: what an earlier process was sending goes out up to a minute \
                    later
                    """)
            }
        }
        reach =
            settings.allowsPrivateCallbacks
            ? .allAddresses : isDevelopment ? .publicAddressesAndLoopback : .publicAddresses
        let hasher = KeyedHasher(key: store.dataKey.derived(for: "keyed hashes"))
        hooks = HookCaller(reach: reach, queue: store, hasher: hasher)
        clientKeys = KeyFetcher(reach: reach)
        captchas = CaptchaVerifier(providers, reach: reach)
        let ports = Ports(
            issuer: issuer, store: store, changes: hub, time: time, clock: ContinuousClock(), random: random,
            hasher: hasher, keys: store.issuerKeySource,
            transports: Transports(
                mail: isDevelopment || settings.mail != nil, text: isDevelopment || settings.texts != nil),
            limits: settings.limits, hooks: HooksBesidesWork(hooks: hooks), places: places ?? NoPlaces(),
            clientKeys: KeysBesidesWork(keys: clientKeys), captchas: CaptchasBesidesWork(captchas: captchas),
            rsaKeys: rsaKeys, certificateURL: settings.certificateURL, logger: logger)
        requests = settings.metrics.map { _ in RequestCounts() }
        connections = ConnectionCounts(limit: settings.connections.perAddress, proxies: settings.proxies)
        load = LoadLimit(most: settings.mostLoad)
        resources = DoorResources(
            ports: ports, isDevelopment: isDevelopment, links: settings.pageLinks, certificates: source)
        developmentOutbox = isDevelopment ? DevelopmentOutbox(folder: folder.messages) : nil
        self.doors =
            doors(resources) + [OAuthDoor(resources), SignInDoor(resources), OneWelcomeDoor(resources)]
            + [OktaDoor(resources), CotterDoor(resources)]
            + [NativeAPI(resources, developmentOutbox: developmentOutbox)]
        self.issuer = issuer
        self.hub = hub
        self.store = store
        keyRefresh = KeyRefresh(store: store, changes: hub, logger: logger) { [settings] in
            switch settings.database {
            case .sqlite: try folder.masterKey(from: settings.masterKey, environment)
            case .postgresql: try folder.sharedMasterKey(from: settings.masterKey, environment, isNew: false)
            }
        }
        self.settings = settings
        self.logger = logger
        dataFolder = folder.path
    }

    /// Makes a new bootstrap token for the server with these settings.
    package static func renewBootstrapToken(
        _ settings: ServerSettings, environment: [String: String]
    ) async throws -> (token: Secret<String>, file: String) {
        let folder = try DataFolder(settings)
        if case .sqlite = settings.database, !FileManager.default.fileExists(atPath: folder.database) {
            throw StartError("There is no database in \(settings.dataFolder). Name the server's folder with --data.")
        }
        let time = SystemTime()
        guard let anyIssuer = Issuer("http://localhost") else { preconditionFailure("a loopback issuer is valid") }
        let silent = Logger(label: "admin") { _ in SwiftLogNoOpLogHandler() }
        let store = try await OpenedStore.open(
            settings, folder, hub: ChangeHub(time: time), issuer: anyIssuer, environment: environment, logger: silent
        ) { _ in }.store
        switch try await RenewBootstrapToken.renew(store: store, time: time, random: SystemRandom()) {
        case .renewed(let token):
            try folder.write(bootstrapToken: token)
            return (token, folder.bootstrapToken)
        }
    }

    /// Serves until a signal asks the server to stop, or until `body` returns.
    ///
    /// - Parameters:
    ///   - signals: the signals that ask the server to stop.
    ///   - body: called when the server answers requests; cancelled when a signal asks the server to stop.
    package func run(
        until signals: [UnixSignal] = [.sigterm, .sigint], during body: @escaping @Sendable () async throws -> Void
    ) async throws {
        let ports = resources.ports
        let (ready, announce) = AsyncStream.makeStream(of: Void.self)
        let responder = Responder(
            RouteTable(doors), doors: doors, ports: ports, proxies: settings.proxies, counts: requests, load: load)
        let limit = FileLimit.connections(atMost: settings.connections.total, logger)
        let eventLoops = EventLoopGroupProvider.singleton.eventLoopGroup
        let server = try HTTPServerBuilder.http1(
            counting: connections, securedBy: certificates,
            refusing: { responder.refusalAtOnce(of: $0, on: $1) }
        ).buildServer(
            configuration: .init(
                address: .hostname(settings.host, port: settings.port), backlog: ConnectionLimits.backlog,
                availableConnectionsDelegate: .maximum(limit, logger: Responder.silent)),
            eventLoopGroup: eventLoops, logger: Responder.silent,
            responder: { try await responder.respond(to: $0, writer: $1, channel: $2) },
            onServerRunning: { _ in announce.finish() })
        let listener = Listener(server: server, loop: eventLoops.next())
        let senders = try Senders(
            settings, reach: reach, issuer: issuer, isDevelopment: resources.isDevelopment,
            developmentOutbox: developmentOutbox, tokens: store, time: ports.time)
        hooks.start()
        clientKeys.start()
        captchas.start()
        let deliveries = DeliveryCounts()
        let worker = OutboxWorker(
            queue: store, ports: ports, callbacks: senders.callbacks, pushes: senders.pushes,
            messages: senders.messages, counts: deliveries)
        let maintenance = Maintenance(ports: ports, store: store, retention: settings.retention)
        let visitor = Background {
            for await _ in ready {}
            // The wait also ends if the port is taken; the task is then cancelled.
            try Task.checkCancellation()
            try await body()
        }
        // Trapped before the server says that it is ready: a reload that came before would end it. A closed terminal should.
        let reloads =
            certificates != nil || isatty(STDIN_FILENO) == 0 ? await UnixSignalsSequence(trapping: .sighup) : nil
        var configuration = ServiceGroupConfiguration(
            services: [
                // Shutdown is in reverse order: requests end first, and what they have queued is delivered afterwards.
                .init(service: Background { try await hub.run() }),
                .init(service: Background { [keyRefresh] in try await keyRefresh.run() }),
                .init(service: Background { try await worker.run() }),
                .init(service: Background { try await maintenance.run() }),
                .init(service: listener),
                .init(service: WaitShutdownService(shutdown: resources.shutdown)),
                .init(service: visitor, successTerminationBehavior: .gracefullyShutdownGroup),
            ] + besides(deliveries, reloads), gracefulShutdownSignals: signals, logger: quiet(logger))
        configuration.maximumGracefulShutdownDuration = Self.shutdownLimit
        let end: Result<Void, any Error>
        do {
            try await ServiceGroup(configuration: configuration).run()
            end = .success(())
        } catch let error as IOError where error.errnoCode == EADDRINUSE {
            end = .failure(
                StartError("Port \(settings.port) is taken. Choose another with --port, or 0 for a free one."))
        } catch {
            end = .failure(error)
        }
        // What ended the server is reported, and not what went wrong afterwards.
        do {
            try await hooks.shutdown()
            try await clientKeys.shutdown()
            try await captchas.shutdown()
            try await senders.shutdown()
        } catch {
            logger.warning("connections were not closed: \(error)")
        }
        try end.get()
    }

    /// The services that depend on the settings: the metrics' listener, the watch on the file with places, and either
    /// certificate reloading or a handler for SIGHUP.
    private func besides(
        _ deliveries: DeliveryCounts, _ reloads: UnixSignalsSequence?
    ) -> [ServiceGroupConfiguration.ServiceConfiguration] {
        var services: [ServiceGroupConfiguration.ServiceConfiguration] = []
        if let certificates, let reloads {
            services.append(.init(service: Background { try await certificates.watch(reloads) }))
        } else if let reloads {
            services.append(
                .init(
                    service: Background { [logger] in
                        for await _ in reloads { logger.notice("there is no certificate to read again") }
                    }))
        }
        if let places { services.append(.init(service: Background { try await places.watch() })) }
        if let address = settings.metrics, let requests {
            let metrics = Metrics(
                requests: requests, load: load, connections: connections, waits: resources.waits,
                deliveries: deliveries, store: store, ports: resources.ports)
            services.append(.init(service: MetricsService(metrics: metrics, address: address)))
        }
        return services
    }

    /// Silences the framework, which logs every closed connection; errors that matter are thrown, and the responder
    /// logs requests.
    private func quiet(_ logger: Logger) -> Logger {
        var quiet = logger
        quiet.logLevel = .critical
        return quiet
    }

    /// A port of a host that was free a moment ago, so that the public URL is known before the server listens.
    static func freePort(host: String) throws -> Int {
        guard let address = try? SocketAddress.makeAddressResolvingHost(host, port: 0) else {
            throw StartError("\(host) is no host that this machine knows.")
        }
        let descriptor = socket(Int32(address.protocol.rawValue), Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw StartError("No socket can be made.") }
        defer { close(descriptor) }
        let isBound = address.withSockAddr { bind(descriptor, $0, socklen_t($1)) == 0 }
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let port = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer -> UInt16? in
                guard isBound, getsockname(descriptor, pointer, &length) == 0 else { return nil }
                // The port is at the same place in the addresses of both families.
                return UnsafeRawPointer(pointer).load(as: sockaddr_in.self).sin_port.bigEndian
            }
        }
        guard let port else { throw StartError("No port of \(host) is free.") }
        return Int(port)
    }
}

/// Ends waits as soon as the server is asked to stop.
private struct WaitShutdownService: Service {
    let shutdown: WaitCanceller

    func run() async throws {
        // The server stops both after cancellation and after a request to stop.
        try? await gracefulShutdown()
        shutdown.interrupt()
    }
}
