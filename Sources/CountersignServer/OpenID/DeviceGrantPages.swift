import CountersignCore
import CountersignPages
import CountersignWire
import Encodings
import HTTPTypes
import Hummingbird

/// The pages on which a person says yes or no to a device that shows a code.
///
/// Spec: RFC 8628 §3.3; docs/decisions/0087-device-grant.md.
extension SignInDoor {
    private static let confirmPath = "\(DeviceCodePage.path)/confirm"
    private static let cancelPath = "\(DeviceCodePage.path)/cancel"

    func addDevice(to table: inout RouteTable) {
        table.add(.get, DeviceCodePage.path, query: [DeviceCodePage.field, "ui_locales"]) { [self] request, context in
            let visit = Visit(try await Incoming(request, context), cookies, ports)
            let query = try FormFields(query: visit.incoming)
            let code = query[DeviceCodePage.field].flatMap { UserCode(typed: $0) }
            return try deviceCodePage(visit, typed: code?.description, languages: query["ui_locales"])
        }
        table.add(.post, DeviceCodePage.path) { [self] request, context in
            let incoming = try await Incoming(request, context)
            let form = try FormFields(form: incoming)
            let visit = Visit(incoming, cookies, ports)
            guard let sealed = form["request"], !visit.isNew,
                let carried = SealedDevicePage(opening: sealed, in: visit.browser, ports: ports)
            else { throw PageError.tooOld }
            return try await findDevice(form[DeviceCodePage.field] ?? "", carried.languages, visit)
        }
        addForm(Self.confirmPath, to: &table) { [self] carried, form, visit in
            let request = try answer(to: carried, visit)
            switch form[DeviceConfirmPage.field] {
            case "yes":
                return try await reply(
                    to: try await ConfirmDeviceGrant.confirm(request, ports: ports), carried, visit)
            case "no":
                return try await reply(to: try await ConfirmDeviceGrant.deny(request, ports: ports), carried, visit)
            default: return try await askAnew(request, carried, visit)
            }
        }
        addForm(Self.cancelPath, to: &table) { [self] carried, _, visit in
            let request = try answer(to: carried, visit)
            return try await reply(to: try await ConfirmDeviceGrant.deny(request, ports: ports), carried, visit)
        }
        addDeviceWaiting(to: &table)
    }

    private func addDeviceWaiting(to table: inout RouteTable) {
        table.add(.get, "\(DeviceCodePage.path)/:id", query: ["look", "ui_locales"]) { [self] request, context in
            let (visit, id) = try signIn(try await Incoming(request, context))
            let outcome = try await WatchAuthorization.show(id, in: visit.browser, isOfDevice: true, ports: ports)
            guard case .shown(let found, let progress) = outcome else { throw PageError.gone }
            return try await deviceWaitPage(found, progress, visit)
        }
        table.add(.get, "\(DeviceCodePage.path)/:id/state", query: ["wait", "seen"]) { [self] request, context in
            let (visit, id) = try signIn(try await Incoming(request, context))
            let place = try waitingPlace(of: visit)
            return context.later.answer { [self] in
                defer { withExtendedLifetime(place) {} }
                return try await deviceState(of: id, visit)
            }
        }
    }

    /// The page with the field for the code.
    private func deviceCodePage(
        _ visit: Visit, typed: String?, languages: String?, problem: DeviceCodePage.Problem? = nil
    ) throws -> Response {
        let chosen = languages.map(AuthorizationChecks.languages)
        var frame = frame(in: language(chosen, visit.incoming))
        frame.request = try SealedDevicePage(languages: chosen).sealed(for: visit.browser, ports: ports)
        frame.languageSwitch = .link(DeviceCodePage.path)
        let page = DeviceCodePage(typed: typed, problem: problem)
        var response = PageResponse(page, in: frame).response()
        if visit.isNew { response.headers[values: .setCookie].append(cookies.setting(visit.browser)) }
        return response
    }

    private func findDevice(_ typed: String, _ languages: String?, _ visit: Visit) async throws -> Response {
        let request = FindDeviceGrant.Request(
            typed: typed, browser: visit.browser, session: visit.session, network: visit.incoming.context.network)
        switch try await FindDeviceGrant.find(request, ports: ports) {
        case .asks(let found, let question): return try await deviceConfirmPage(found, question, languages, visit)
        case .signIn(let client, let code): return try await signIn(at: client, toAnswer: code, languages, visit)
        case .unknown:
            note(.wrongCode, visit)
            return try deviceCodePage(visit, typed: typed, languages: languages, problem: .unknown)
        case .tooMany(let seconds):
            note(.tooMany, visit)
            throw PageError.tooMany(retryAfter: seconds, at: ports.time.now).said(
                in: language(languages, visit.incoming))
        }
    }

    /// The pages on which a person signs in at the client of a device, to come back with its code.
    private func signIn(
        at client: ClientID, toAnswer code: UserCode, _ languages: String?, _ visit: Visit
    ) async throws -> Response {
        var wanted = Wanted(client: client, redirectURI: ports.issuer.devicePage, scopes: [])
        wanted.clientState = "\(code)"
        wanted.languages = languages
        return try await identifierPage(CarriedSignIn(wanted: wanted), visit, typed: nil)
    }

    /// The page that asks whether the person has started this.
    private func deviceConfirmPage(
        _ found: Authorization, _ question: ConsentQuestion, _ languages: String?, _ visit: Visit
    ) async throws -> Response {
        var carried = CarriedSignIn(wanted: found.wanted, signIn: found.id, user: question.user)
        carried.wanted.languages = languages
        carried.wanted.asksConsent = !question.isGiven
        let name = question.addresses[.email] ?? question.addresses[.phone]
        carried.wanted.identifier = (name?.address).map(SignInName.address)
        var frame = try await frame(carried, visit, languagePath: Self.confirmPath)
        frame.ledger = PageFrame.Ledger(identifier: carried.wanted.identifier?.address?.description)
        let tag = tag(languages, visit)
        let page = DeviceConfirmPage(
            action: Self.confirmPath, code: found.wanted.device.map { "\($0.userCode)" } ?? "",
            there: .init(found.wanted.askedFrom, in: tag), askedAt: Int(found.id.time.seconds),
            here: .init(visit.place, in: tag), whereabouts: .init(of: found.wanted.askedFrom, seenFrom: visit.place),
            items: question.isGiven ? [] : question.items)
        return reply(page, in: frame, carried, visit)
    }

    /// The same page once more: in another language, or with what it has not named before.
    private func askAnew(
        _ request: ConfirmDeviceGrant.Request, _ carried: CarriedSignIn, _ visit: Visit
    ) async throws -> Response {
        let asked = try await FindDeviceGrant.question(
            about: request.signIn, to: request.user, in: visit.browser, session: visit.session, ports: ports)
        guard let (found, question) = asked else { throw PageError.gone }
        return try await deviceConfirmPage(found, question, carried.wanted.languages, visit)
    }

    /// An answer to the page that carries this.
    private func answer(to carried: CarriedSignIn, _ visit: Visit) throws -> ConfirmDeviceGrant.Request {
        guard let id = carried.signIn, let user = carried.user, carried.wanted.device != nil else {
            throw PageError.gone
        }
        var request = ConfirmDeviceGrant.Request(id, by: user, browser: visit.browser, session: visit.session)
        request.isGiven = !carried.wanted.asksConsent
        request.languages = carried.wanted.languages
        request.language = tag(carried.wanted.languages, visit)
        return request
    }

    private func reply(
        to outcome: ConfirmDeviceGrant.Outcome, _ carried: CarriedSignIn, _ visit: Visit
    ) async throws -> Response {
        guard let id = carried.signIn, let code = carried.wanted.device?.userCode else { throw PageError.gone }
        let languages = carried.wanted.languages
        switch outcome {
        case .asked, .confirmed: return Self.redirect(to: "\(DeviceCodePage.path)/\(id)")
        case .denied: return try await deviceDonePage(.denied, carried, visit)
        case .asksAnew: return try await askAnew(try answer(to: carried, visit), carried, visit)
        case .notAsked:
            return try deviceCodePage(visit, typed: "\(code)", languages: languages, problem: .notAsked)
        case .signIn: return try await signIn(at: carried.wanted.client, toAnswer: code, languages, visit)
        case .gone: throw PageError.gone
        }
    }

    // MARK: Waiting

    private func deviceWaitPage(
        _ found: Authorization, _ progress: WatchAuthorization.Progress, _ visit: Visit
    ) async throws -> Response {
        var carried = CarriedSignIn(wanted: found.wanted, signIn: found.id, user: found.user)
        if let languages = visit.incoming.query["ui_locales"] {
            carried.wanted.languages = AuthorizationChecks.languages(languages)
        }
        guard case .asking(let number, let until) = progress else {
            return try await deviceDonePage(found.end, carried, visit)
        }
        let page = NumberPage(
            number, until: until, at: "\(DeviceCodePage.path)/\(found.id)", visit,
            exits: PageExits(cancelAction: Self.cancelPath))
        return reply(page, in: try await deviceFrame(carried, visit), carried, visit)
    }

    private func deviceDonePage(
        _ end: DeviceDonePage.End, _ carried: CarriedSignIn, _ visit: Visit
    ) async throws -> Response {
        let code = carried.wanted.device.map { [(DeviceCodePage.field, "\($0.userCode)")] } ?? []
        let page = DeviceDonePage(end: end, againPath: Self.location(DeviceCodePage.path, code))
        var frame = try await deviceFrame(carried, visit)
        // What was refused before a browser took it up has no address.
        if end == .denied { frame.languageSwitch = nil }
        return reply(page, in: frame, carried, visit)
    }

    /// What the pages show after the answer: from where the device has asked, and when.
    private func deviceFrame(_ carried: CarriedSignIn, _ visit: Visit) async throws -> PageFrame {
        var asked = carried
        // Whom the device has named need not be who answers.
        asked.wanted.identifier = nil
        var frame = try await frame(asked, visit)
        frame.ledger.askedAt = carried.signIn.map { Int($0.time.seconds) }
        // What is not known of the device is not what is known of this browser.
        if carried.wanted.askedFrom == nil {
            (frame.ledger.browser, frame.ledger.place, frame.ledger.address) = (nil, nil, nil)
        }
        frame.languageSwitch = carried.signIn.map { PageFrame.LanguageSwitch.link("\(DeviceCodePage.path)/\($0)") }
        return frame
    }

    /// How a device's sign-in goes on, as the page's script reads it.
    private func deviceState(of id: AuthorizationID, _ visit: Visit) async throws -> Response {
        let length = visit.incoming.query["wait"].flatMap { Int64($0) }.map { Seconds($0) } ?? 0
        let end = ports.time.now.adding(min(max(length, 0), Self.longestWait))
        let state: String =
            switch try await deviceProgress(of: id, visit, until: end) {
            case .shown(_, .asking): "open"
            case .shown(let found, _): found.end == .approved ? "approved" : found.end == .denied ? "declined" : "ended"
            case .notFound: "ended"
            }
        return Response(json: ["state": .string(state), "next": .string("\(DeviceCodePage.path)/\(id)")])
    }

    private func deviceProgress(
        of id: AuthorizationID, _ visit: Visit, until deadline: Timestamp
    ) async throws -> WatchAuthorization.Outcome {
        do {
            return try await WatchAuthorization.show(
                id, in: visit.browser, isOfDevice: true, isScanned: false, waitingUntil: deadline,
                changes: try resources.changes(for: visit.incoming.context), ports: ports)
        } catch is CancellationError where resources.shutdown.isOver {
            return try await WatchAuthorization.show(id, in: visit.browser, isOfDevice: true, ports: ports)
        }
    }
}

extension Authorization {
    /// How a device's sign-in has ended, for a page that asks nothing any more.
    fileprivate var end: DeviceDonePage.End {
        switch state {
        case .authenticated, .granted, .redeemed: .approved
        case .refused: .denied
        case .open: .ended
        }
    }
}

extension DeviceConfirmPage.Origin {
    /// From where somebody comes, in a language.
    fileprivate init(_ line: ContextLine?, in language: LanguageTag?) {
        self.init(
            browser: line?.userAgent.flatMap { ContextLine(address: nil, userAgent: $0)?.line.text },
            place: line?.shownPlace(in: language))
    }
}

extension DeviceConfirmPage.Whereabouts {
    /// Where a device is, seen from a reader.
    ///
    /// A private address is shared by many, and by all whose proxy this server does not know.
    fileprivate init(of device: ContextLine?, seenFrom reader: ContextLine?) {
        let addresses = [device, reader].map { $0?.address.flatMap { IPAddress($0) } }
        if let there = addresses[0], let here = addresses[1], there.network == here.network, !there.isPrivate {
            self = .here
        } else if let place = device?.place {
            self = place == reader?.place ? .here : .elsewhere
        } else {
            self = .unknown
        }
    }
}
