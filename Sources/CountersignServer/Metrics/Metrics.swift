import CountersignCore
import CountersignDelivery
import CountersignStorage
import CountersignWire
import Hummingbird

/// Everything that `/metrics` reports.
struct Metrics: Sendable {
    let requests: RequestCounts
    let load: LoadLimit
    let connections: ConnectionCounts
    let waits: Waits
    let deliveries: DeliveryCounts
    let store: SQLStore
    let ports: Ports

    func page() async -> String {
        var page = Exposition()
        page.family("countersign_build_info", .gauge, "1, with the version that runs.")
        page.sample(["version": ServerVersion.text], 1)
        addRequests(to: &page)
        let current = connections.current
        page.family("countersign_connections", .gauge, "Connections of callers that are open.")
        page.sample(current.open)
        page.family(
            "countersign_connections_refused_total", .counter,
            "Connections hung up on because their address had as many as it may.")
        page.sample(current.refused)
        page.family("countersign_working_requests", .gauge, "Requests that are worked on now.")
        page.sample(load.working)
        page.family(
            "countersign_overload_refusals_total", .counter,
            "Requests refused because there were more than could be answered in time.")
        page.sample(load.refused)
        page.family("countersign_waiting_requests", .gauge, "Long polls and streams of events that wait now.")
        page.sample(waits.count)
        page.family(
            "countersign_events_total", .counter,
            "What happened, by the names of the audit: challenges asked, approved, denied, expired and so on.")
        let events = store.eventCounts
        for kind in AuditEventKind.allCases { page.sample(["event": kind.rawValue], events[kind] ?? 0) }
        page.family(
            "countersign_token_refreshes_total", .counter, "Refresh tokens taken, for which clients got tokens.")
        page.sample(ports.tokenCounts.refreshes)
        page.family("countersign_introspections_total", .counter, "Questions whether a token is good.")
        page.sample(ports.tokenCounts.introspections)
        page.family("countersign_sign_in_refusals_total", .counter, "Sign-ins that the pages refused, by reason.")
        let refused = ports.refusedSignIns.counts
        for reason in RefusedSignIns.Reason.allCases {
            page.sample(["reason": reason.rawValue], refused[reason] ?? 0)
        }
        page.family("countersign_deliveries_total", .counter, "Attempts to deliver, by kind and what came of them.")
        for (kind, outcome, count) in deliveries.counts {
            page.sample(["kind": kind.rawValue, "outcome": outcome.rawValue], count)
        }
        let committed = store.commitCount
        page.family("countersign_commits_total", .counter, "Commits, each one sync of the disk.")
        page.sample(committed.commits)
        page.family("countersign_writes_total", .counter, "Writes in those commits.")
        page.sample(committed.writes)
        page.family(
            "countersign_statements_total", .counter,
            "Statements run on the database, those that begin and end transactions included.")
        page.sample(StatementCount.total)
        addPool(to: &page, committed)
        await addOutbox(to: &page)
        addProcess(to: &page)
        return page.text
    }

    private func addRequests(to page: inout Exposition) {
        let (series, refusals) = requests.counts
        let sorted = series.sorted { ($0.key.route, $0.key.method) < ($1.key.route, $1.key.method) }
        page.family("countersign_http_requests_total", .counter, "Requests, by route, method and status of the reply.")
        for (key, series) in sorted {
            for (status, count) in series.statuses.sorted(by: { $0.key < $1.key }) {
                page.sample(["route": key.route, "method": key.method, "status": "\(status)"], count)
            }
        }
        page.family(
            "countersign_http_request_duration_seconds", .histogram,
            "How long requests took; those that were to wait are left out.")
        for (key, series) in sorted {
            var total = 0
            for (bound, count) in zip(RequestCounts.bounds.map { "\($0)" } + ["+Inf"], series.buckets) {
                total += count
                page.sample(
                    ["route": key.route, "method": key.method, "le": bound], suffix: "_bucket", total)
            }
            page.sample(["route": key.route, "method": key.method], suffix: "_sum", series.seconds)
            page.sample(["route": key.route, "method": key.method], suffix: "_count", total)
        }
        page.family(
            "countersign_refusals_total", .counter, "Requests refused, by code; rate_limited are the limits' doing.")
        for code in ProblemCode.allCases { page.sample(["code": code.rawValue], refusals[code.rawValue] ?? 0) }
    }

    /// Adds the figures of the PostgreSQL connection pool; SQLite has none.
    private func addPool(to page: inout Exposition, _ committed: CommitCount) {
        guard let pool = store.poolStatistics else { return }
        page.family("countersign_database_connections_open", .gauge, "Connections to the database that are open.")
        page.sample(pool.openConnections)
        page.family("countersign_database_connections_busy", .gauge, "Those of them on which something is done.")
        page.sample(pool.busyConnections)
        page.family("countersign_database_jobs_waiting", .gauge, "Reads and writes that wait for a connection.")
        page.sample(pool.waitingJobs)
        page.family(
            "countersign_database_oldest_job_age_seconds", .gauge, "For how long the first of them has waited.")
        page.sample(max(0, pool.longestWait / .seconds(1)))
        page.family("countersign_database_away", .gauge, "1 while nobody can connect to the database, else 0.")
        page.sample(pool.isAway ? 1 : 0)
        page.family(
            "countersign_transaction_clashes_total", .counter, "Transactions run again: they clashed with another.")
        page.sample(committed.clashes)
        page.family(
            "countersign_commit_lookups_total", .counter,
            "Times the database was asked what became of a commit that got no reply.")
        page.sample(committed.lookups)
    }

    private func addOutbox(to page: inout Exposition) async {
        // A scrape must not wait as long as a caller may, so nothing is read while the database cannot be reached.
        let isAway = store.poolStatistics?.isAway == true
        let status = isAway ? nil : try? await store.outboxStatus()
        page.family("countersign_database_readable", .gauge, "Whether the database could be read for this page.")
        page.sample(status == nil ? 0 : 1)
        guard let status else { return }
        page.family("countersign_outbox_messages", .gauge, "Messages that wait to be delivered.")
        page.sample(status.count)
        page.family("countersign_outbox_oldest_age_seconds", .gauge, "For how long the oldest of them has waited.")
        let age = status.oldest.map { Double(ports.time.now.milliseconds - $0.milliseconds) / 1000 } ?? 0
        page.sample(max(0, age))
        page.family(
            "countersign_sign_in_work_level", .gauge,
            "How hard the puzzle is that unknown browsers solve before a page reaches somebody; 0 for none.")
        page.sample((try? await SignInWork.level(ports: ports)) ?? 0)
    }

    private func addProcess(to page: inout Exposition) {
        guard let numbers = ProcessNumbers.now else { return }
        page.family("process_cpu_seconds_total", .counter, "Processor time used, in seconds.")
        page.sample(numbers.processorSeconds)
        page.family("process_resident_memory_bytes", .gauge, "Memory in use, in bytes.")
        page.sample(numbers.residentBytes)
        page.family("process_open_fds", .gauge, "Open files.")
        page.sample(numbers.openFiles)
        page.family("process_max_fds", .gauge, "How many files may be open.")
        page.sample(numbers.maximumFiles)
        page.family("process_start_time_seconds", .gauge, "When the process started, in seconds since 1970.")
        page.sample(numbers.startedAt)
    }

    /// The listener for the metrics, which serves nothing else.
    func application(on address: ListenAddress) -> some ApplicationProtocol {
        let router = Router(context: BasicRequestContext.self)
        router.get("/metrics") { _, _ in
            Response(bytes: Array(await page().utf8), type: Exposition.mediaType)
        }
        return Application(
            router: router,
            configuration: .init(address: .hostname(address.host, port: address.port), serverName: nil),
            logger: Responder.silent)
    }
}
