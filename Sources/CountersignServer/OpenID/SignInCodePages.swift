import CountersignCore
import CountersignPages
import CountersignWire
import Encodings
import Foundation
import HTTPTypes
import Hummingbird

/// The pages for the code that was sent to an address, and those behind the link in a mail.
extension SignInDoor {
    func addCodes(to table: inout RouteTable) {
        addForm("/signin/:id/enter", to: &table) { [self] carried, form, visit in
            let id = try signIn(carried, visit)
            let typed = form[CodePage.field] ?? ""
            guard let code = EntryNumber(typed.filter { $0 != " " }) else {
                guard
                    case .shown(let found, .typing) = try await WatchAuthorization.show(
                        id, in: visit.browser, ports: ports)
                else { return Self.redirect(to: "/signin/\(id)") }
                return try await codePage(of: found, .malformed, typed: typed, visit)
            }
            return try await enter(.code(code), typed: typed, for: id, visit)
        }
        table.add(.get, "/signin/:id/link/:secret") { [self] request, context in
            let (outcome, visit) = try await link(try await Incoming(request, context))
            switch outcome {
            case .here(let found):
                return try await linkPage(CarriedSignIn(wanted: found.wanted, signIn: found.id), visit)
            case .elsewhere(let found, _):
                let page = LinkElsewherePage(
                    facts: try await facts(of: found, visit), askedAt: Int(found.id.time.seconds),
                    action: Self.path(of: visit.incoming))
                return PageResponse(page, in: strangeFrame(found, visit)).response()
            case .onlyThere: throw PageError.otherBrowser
            case .over: throw PageError.gone
            }
        }
        table.add(.post, "/signin/:id/link/:secret") { [self] request, context in
            let incoming = try await Incoming(request, context)
            let (outcome, visit) = try await link(incoming)
            switch outcome {
            case .here(let found):
                // The form shows that the person pressed our button, and no program or other site.
                let (carried, form, _) = try await opened(incoming)
                guard carried.signIn == found.id, let secret = incoming.parameter("secret") else {
                    throw PageError.gone
                }
                if form["ui_locales"] != nil { return try await linkPage(carried, visit) }
                return try await enter(.link(Secret(secret)), typed: nil, for: found.id, visit)
            case .elsewhere(let found, let code):
                let page = LinkCodePage(
                    digits: code.digits, expiresAt: Int((found.ask?.until ?? ports.time.now).seconds),
                    facts: try await facts(of: found, visit))
                return PageResponse(page, in: strangeFrame(found, visit)).response()
            case .onlyThere: throw PageError.otherBrowser
            case .over: throw PageError.gone
            }
        }
    }

    private func enter(
        _ proof: EnterSignInCode.Proof, typed: String?, for id: AuthorizationID, _ visit: Visit
    ) async throws -> Response {
        switch try await EnterSignInCode.enter(proof, for: id, in: visit.browser, ports: ports) {
        case .authenticated: return Self.redirect(to: "/signin/\(id)/done")
        case .wrong(let found, let left):
            note(.wrongCode, by: found.ask?.verification?.address.way, at: found.client, for: id, visit)
            return try await codePage(of: found, .wrong(triesLeft: left), typed: typed, visit)
        case .over(let found):
            note(.codeOver, by: found.ask?.verification?.address.way, at: found.client, for: id, visit)
            return try await codePage(of: found, .expired, typed: nil, visit)
        case .notFound: return Self.redirect(to: "/signin/\(id)")
        }
    }

    /// The page with the field for the code.
    func codePage(
        of found: Authorization, _ problem: CodePage.Problem?, typed: String?, _ visit: Visit
    ) async throws -> Response {
        guard let ask = found.ask, let sent = ask.verification else { throw PageError.gone }
        let sentAt = ask.until.adding(-Verification.lifetime)
        let pause = PageCountdown(
            beginsAt: Int(sentAt.seconds), expiresAt: Int(sentAt.adding(Verification.pause).seconds))
        let isEmail = sent.address.kind == .email
        let page = CodePage(
            channel: isEmail ? .email : .text, address: "\(sent.address)", expiresAt: Int(ask.until.seconds),
            action: "/signin/\(found.id)/enter", resendAction: "/signin/ask/\(isEmail ? "email" : "text")",
            resendWait: pause.expiresAt > Int(ports.time.now.seconds) ? pause : nil,
            anotherWayAction: Self.choosePath, typed: typed, problem: problem)
        return try await self.page(page, of: found, visit)
    }

    // MARK: Links

    /// The page behind a link, in the browser that has asked for it.
    private func linkPage(_ carried: CarriedSignIn, _ visit: Visit) async throws -> Response {
        let path = Self.path(of: visit.incoming)
        return try await page(LinkHerePage(action: path), carried, visit, languagePath: path)
    }

    /// What a link leads to, in the browser that opens it.
    private func link(_ incoming: Incoming) async throws -> (OpenSignInLink.Outcome, Visit) {
        let visit = Visit(incoming, cookies, ports)
        guard let id = incoming.parameter("id").flatMap({ AuthorizationID($0) }),
            let secret = incoming.parameter("secret")
        else { return (.over, visit) }
        let outcome = try await OpenSignInLink.open(
            id, Secret(secret), in: visit.isNew ? nil : visit.browser, ports: ports)
        return (outcome, visit)
    }

    static func path(of incoming: Incoming) -> String { String(incoming.target.prefix { $0 != "?" }) }

    private func facts(of found: Authorization, _ visit: Visit) async throws -> LinkFacts {
        guard case .shown(let client, _) = try await ShowRelyingParty.show(found.client, ports: ports) else {
            throw PageError.unknownClient
        }
        let from = found.wanted.askedFrom
        let language = tag(found.wanted.languages, visit)
        return LinkFacts(
            client: client.name.text, host: URLComponents(string: found.wanted.redirectURI)?.host ?? "",
            browser: ContextLine(address: nil, userAgent: from?.userAgent)?.line.text,
            place: from?.shownPlace(in: language))
    }

    /// The frame in a browser that has not begun anything.
    private func strangeFrame(_ found: Authorization, _ visit: Visit) -> PageFrame {
        frame(in: language(found.wanted.languages, visit.incoming))
    }
}
