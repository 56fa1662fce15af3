import CountersignCore
import CountersignPages
import CountersignWire
import Encodings
import HTTPTypes
import Hummingbird

/// The page that offers a passkey after a sign-in, before the person returns to the client.
///
/// The sign-in has ended when the page comes: the browser has its session, and the client gets a code when the person
/// goes on, so that none grows old on the page. Spec: docs/decisions/0078-passkeys-on-pages.md.
extension SignInDoor {
    private static func path(ofOfferAfter id: AuthorizationID) -> String { "/signin/\(id)/passkey" }

    func addPasskeyOffer(to table: inout RouteTable) {
        table.add(.get, "/signin/:id/passkey") { [self] request, context in
            let (visit, id) = try signIn(try await Incoming(request, context))
            return try await offerPage(after: id, visit) ?? Self.redirect(to: "/signin/\(id)/done")
        }
        addForm("/signin/:id/passkey", to: &table) { [self] carried, form, visit in
            let id = try signIn(carried, visit)
            guard let user = carried.user else { throw PageError.gone }
            if form["ui_locales"] != nil, let page = try await offerPage(after: id, visit, in: carried.wanted.languages)
            {
                return page
            }
            guard form[PasskeyOffer.field] == nil else { return try await create(for: user, carried, form, visit) }
            var response = try await finishAgain(id, visit)
            if form[OfferPasskeyPage.field] == OfferPasskeyPage.never {
                response.headers[values: .setCookie].append(cookies.endingOffers)
            }
            return response
        }
        // What was created has an address of its own, so that a browser that loads it again sends nothing twice.
        table.add(.get, "/signin/:id/passkey/:passkey", query: ["ui_locales"]) { [self] request, context in
            let (visit, id) = try signIn(try await Incoming(request, context))
            guard let passkey = visit.incoming.parameter("passkey").flatMap({ PasskeyID($0) }),
                let found = try await OfferPasskey.made(
                    passkey, after: id, in: visit.session, browser: visit.browser, ports: ports)
            else { return Self.redirect(to: "/signin/\(id)/done") }
            let made = found.passkey
            let languages = try FormFields(query: visit.incoming)["ui_locales"].map(AuthorizationChecks.languages)
            let carried = carried(of: found.signIn, made.user, in: languages)
            let waitsUntil = made.counts(at: ports.time.now) ? nil : Int(made.countsFrom.seconds)
            let page = PasskeyMadePage(.created(waitsUntil: waitsUntil), action: Self.path(ofOfferAfter: id))
            return try await self.page(page, carried, visit, .link(Self.path(of: visit.incoming)))
        }
    }

    /// Leads to the offer after a sign-in that has just ended; nil where there is none.
    ///
    /// Whoever is signed in and signs in once more is on their way to something else. And nothing keeps anybody from the
    /// client, least of all a database that does not answer.
    func passkeyOffer(
        after id: AuthorizationID, _ finished: FinishSignIn.Finished, _ visit: Visit
    ) async -> Response? {
        guard let session = finished.session, !session.wasOpen, !cookies.pausesOffers(in: visit.incoming.headers),
            let offer = try? await OfferPasskey.offer(
                after: id, in: session.secret, browser: visit.browser, ports: ports)
        else { return nil }
        var response = Self.redirect(to: Self.path(ofOfferAfter: offer.signIn.id))
        response.headers[values: .setCookie].append(cookies.setting(session, at: ports.time.now))
        return response
    }

    /// The page with the offer; nil where there is none any more.
    private func offerPage(
        after id: AuthorizationID, _ visit: Visit, in languages: String? = nil
    ) async throws -> Response? {
        let offer = try await OfferPasskey.offer(
            after: id, in: visit.session, browser: visit.browser, ports: ports)
        guard let offer else { return nil }
        let path = Self.path(ofOfferAfter: id)
        var carried = carried(of: offer.signIn, offer.user, in: languages)
        if let address = offer.addresses.first { carried.wanted.identifier = .address(address) }
        let frame = try await offerFrame(carried, visit, .post(path))
        guard let ceremony = frame.request.flatMap({ PasskeyCeremony(of: $0, ports: ports) }) else { return nil }
        let options = ceremony.creationOptions(
            for: offer.user, named: offer.addresses.first?.description ?? ports.issuer.host, excluding: offer.passkeys)
        let countsFrom = offer.binding.countsFrom
        let page = OfferPasskeyPage(
            offer: PasskeyOffer(options: options.text, action: path), action: path,
            tellsAddresses: !offer.addresses.isEmpty,
            waitsUntil: countsFrom > ports.time.now ? Int(countsFrom.seconds) : nil)
        var response = reply(page, in: frame, carried, visit)
        pauseOffers(with: &response, visit)
        return response
    }

    /// Pauses offers in a browser that was offered a passkey, or has one; where somebody has ended them, they stay ended.
    func pauseOffers(with response: inout Response, _ visit: Visit) {
        guard !cookies.pausesOffers(in: visit.incoming.headers) else { return }
        response.headers[values: .setCookie].append(cookies.pausingOffers)
    }

    /// Registers what the browser has made.
    private func create(
        for user: UserID, _ carried: CarriedSignIn, _ form: FormFields, _ visit: Visit
    ) async throws -> Response {
        let path = Self.path(of: visit.incoming)
        let outcome = try await registration(form, of: user, visit, in: carried.wanted.languages)
        if case .done(let passkey) = outcome {
            let query = carried.wanted.languages.map { "?\(FormText.encoded([("ui_locales", $0)]))" } ?? ""
            return Self.redirect(to: "\(path)/\(passkey.id)\(query)")
        }
        // Whatever the reason, the person is signed in, and goes on.
        return try await page(PasskeyMadePage(.refused, action: path), carried, visit, nil)
    }

    /// What a page carries of a sign-in that has ended.
    private func carried(of found: Authorization, _ user: UserID, in languages: String?) -> CarriedSignIn {
        var carried = CarriedSignIn(wanted: found.wanted, signIn: found.id, user: user)
        if let languages { carried.wanted.languages = languages }
        return carried
    }

    private func page(
        _ page: PasskeyMadePage, _ carried: CarriedSignIn, _ visit: Visit, _ languages: PageFrame.LanguageSwitch?
    ) async throws -> Response {
        reply(page, in: try await offerFrame(carried, visit, languages), carried, visit)
    }

    /// What the pages show of a sign-in that has ended: nobody changes any more who signs in.
    private func offerFrame(
        _ carried: CarriedSignIn, _ visit: Visit, _ languages: PageFrame.LanguageSwitch?
    ) async throws -> PageFrame {
        var frame = try await frame(carried, visit)
        (frame.ledger.changePath, frame.ledger.askedAt) = (nil, nil)
        frame.languageSwitch = languages
        return frame
    }
}
