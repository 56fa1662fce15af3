import CountersignCore
import CountersignPages
import CountersignWire
import Encodings
import HTTPTypes
import Hummingbird

/// The pages of a sign-in that wait: for what is typed or scanned on a device, or for a code that was sent.
extension SignInDoor {
    /// How many requests may wait at the same time: of one browser, and of one network.
    static let maximumWaits = (browser: 3, network: 30)
    /// How long a request for the state of a sign-in may wait.
    static let longestWait = Seconds(30)

    func addWaiting(to table: inout RouteTable) {
        table.add(.get, "/signin/:id", query: ["look"]) { [self] request, context in
            let incoming = try await Incoming(request, context)
            let (visit, id) = try signIn(incoming)
            switch try await WatchAuthorization.show(id, in: visit.browser, ports: ports) {
            case .notFound: throw PageError.gone
            case .shown(let found, let progress):
                if let page = try await offerPage(insteadOf: found, visit) { return page }
                return try await show(found, progress, visit)
            }
        }
        // The second path names the time at which the page shows another code.
        for path in ["/signin/:id/state", "/signin/:id/state/:until"] {
            table.add(.get, path, query: ["wait", "seen"]) { [self] request, context in
                let incoming = try await Incoming(request, context)
                let (visit, id) = try signIn(incoming)
                let until = incoming.parameter("until").flatMap { Int64($0) }.map { Timestamp(seconds: $0) }
                let place = try waitingPlace(of: visit)
                return context.later.answer { [self] in
                    defer { withExtendedLifetime(place) {} }
                    return try await state(of: id, visit, codeUntil: until)
                }
            }
        }
        table.add(.get, "/signin/:id/code") { [self] request, context in
            let (visit, id) = try signIn(try await Incoming(request, context))
            return try await picture(of: id, visit)
        }
        table.add(.get, "/signin/:id/done") { [self] request, context in
            let incoming = try await Incoming(request, context)
            let (visit, id) = try signIn(incoming)
            return try await finish(id, visit)
        }
    }

    /// The place that a page takes which waits for an answer: one of its browser's, and one of its network's.
    func waitingPlace(of visit: Visit) throws -> Waits.Place {
        try resources.waits.place(as: [
            (name: "browser \(visit.browser.text.reveal())", limit: Self.maximumWaits.browser),
            (
                name: "sign-ins from \(Hex.encode(visit.incoming.context.network ?? []))",
                limit: Self.maximumWaits.network
            ),
        ])
    }

    /// A page of a sign-in that has a row: its language is the row's.
    func page(_ page: some HostedPage, of found: Authorization, _ visit: Visit) async throws -> Response {
        let carried = CarriedSignIn(wanted: found.wanted, signIn: found.id)
        return try await self.page(page, carried, visit, languagePath: "/signin/\(found.id)/language")
    }

    private func show(
        _ found: Authorization, _ progress: WatchAuthorization.Progress, _ visit: Visit
    ) async throws -> Response {
        switch progress {
        case .asking(let number, let until):
            let page = NumberPage(
                number, until: until, at: "/signin/\(found.id)", visit,
                exits: PageExits(anotherWayAction: Self.choosePath, cancelAction: "/signin/cancel"))
            return try await self.page(page, of: found, visit)
        case .typing: return try await codePage(of: found, nil, typed: nil, visit)
        case .showing, .scanned: return try await showCode(of: found, visit)
        case .declined:
            let page = EndedPage(
                reason: .declined(at: Int(ports.time.now.seconds)), againAction: Self.path(toAskBy: .device),
                anotherWayAction: Self.choosePath, backAction: "/signin/cancel")
            return try await self.page(page, of: found, visit)
        case .unanswered:
            if found.ask?.verification != nil { return try await codePage(of: found, .expired, typed: nil, visit) }
            let isCode = found.ask?.shown == .code
            let page = EndedPage(
                reason: isCode ? .codeExpired : .numberExpired,
                againAction: Self.path(toAskBy: isCode ? .qr : .device),
                anotherWayAction: isCode ? Self.startPath : Self.choosePath, backAction: "/signin/cancel")
            return try await self.page(page, of: found, visit)
        case .authenticated:
            return try await self.page(ApprovedPage(nextPath: "/signin/\(found.id)/done"), of: found, visit)
        case .finished: throw await named(.gone, of: found.wanted, visit)
        }
    }

    /// The page with the code, which is good for a minute; the page then shows another one.
    private func showCode(of found: Authorization, _ visit: Visit) async throws -> Response {
        let path = "/signin/\(found.id)"
        let now = ports.time.now
        let code = try await ShowSignInCode.code(of: found.id, in: visit.browser, ports: ports)
        let until = code?.expiresAt ?? found.ask?.until ?? now
        let page = QRPage(
            picture: .path("\(path)/code"),
            time: PageCountdown(beginsAt: Int(now.seconds), expiresAt: Int(until.seconds)),
            waiting: PageWait(
                statePath: "\(path)/state/\(until.seconds)", pagePath: path, refreshingPath: "\(path)?look=itself",
                isRefreshing: visit.incoming.query["look"] == "itself"),
            renewalPath: path,
            exits: PageExits(anotherWayAction: Self.startPath, cancelAction: "/signin/cancel"))
        return try await self.page(page, of: found, visit)
    }

    /// The picture of the code.
    private func picture(of id: AuthorizationID, _ visit: Visit) async throws -> Response {
        guard let code = try await ShowSignInCode.code(of: id, in: visit.browser, ports: ports) else {
            throw PageError.gone
        }
        if resources.isDevelopment { resources.show.yield(code.code.text) }
        var response = Response(bytes: Array(try QRPicture(of: code.code.text).svg.utf8), type: "image/svg+xml")
        response.headers[.contentSecurityPolicy] = "default-src 'none'"
        response.headers[.xContentTypeOptions] = "nosniff"
        return response
    }

    /// How a sign-in goes on, as the page's script reads it.
    private func state(of id: AuthorizationID, _ visit: Visit, codeUntil: Timestamp?) async throws -> Response {
        let length = visit.incoming.query["wait"].flatMap { Int64($0) }.map { Seconds($0) } ?? 0
        let end = ports.time.now.adding(min(max(length, 0), Self.longestWait))
        // Another tab has signed the person in: the page looks again, and offers to go on.
        if visit.session != nil,
            case .shown(let open, _) = try await WatchAuthorization.show(id, in: visit.browser, ports: ports),
            try await offer(insteadOf: open, visit) != nil
        {
            return Response(json: ["state": "offered", "next": .string("/signin/\(id)")])
        }
        let outcome = try await progress(of: id, visit, until: min(end, codeUntil ?? end))
        let (state, next): (String, String) =
            switch outcome {
            case .shown(_, .showing) where codeUntil.map { ports.time.now >= $0 } ?? false: ("ended", "/signin/\(id)")
            case .shown(_, .asking), .shown(_, .showing), .shown(_, .typing): ("open", "/signin/\(id)")
            case .shown(_, .scanned): ("scanned", "/signin/\(id)")
            case .shown(_, .declined): ("declined", "/signin/\(id)")
            case .shown(_, .authenticated): ("approved", "/signin/\(id)/done")
            case .shown(_, .unanswered), .shown(_, .finished), .notFound: ("ended", "/signin/\(id)")
            }
        return Response(json: ["state": .string(state), "next": .string(next)])
    }

    /// A sign-in when it is no longer as the page shows it, at the deadline, or when the server is about to stop.
    private func progress(
        of id: AuthorizationID, _ visit: Visit, until deadline: Timestamp
    ) async throws -> WatchAuthorization.Outcome {
        do {
            return try await WatchAuthorization.show(
                id, in: visit.browser, isScanned: visit.incoming.query["seen"] == "scanned", waitingUntil: deadline,
                changes: try resources.changes(for: visit.incoming.context), ports: ports)
        } catch is CancellationError where resources.shutdown.isOver {
            return try await WatchAuthorization.show(id, in: visit.browser, ports: ports)
        }
    }
}

extension NumberPage {
    /// The page with the number of a question, at a path that shows it again.
    init(_ number: EntryNumber, until: Timestamp, at path: String, _ visit: Visit, exits: PageExits) {
        self.init(
            digits: number.digits,
            time: PageCountdown(
                beginsAt: Int(until.adding(-AskSignIn.lifetime).seconds), expiresAt: Int(until.seconds)),
            waiting: PageWait(
                statePath: "\(path)/state", pagePath: path, refreshingPath: "\(path)?look=itself",
                isRefreshing: visit.incoming.query["look"] == "itself"),
            exits: exits)
    }
}
