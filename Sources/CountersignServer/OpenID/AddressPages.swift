import CountersignCore
import CountersignPages
import CountersignWire
import Encodings
import Hummingbird

/// The pages of the account on which people add addresses and remove them.
///
/// Spec: docs/decisions/0079-addresses-on-the-account-page.md.
extension SignInDoor {
    static let newAddressPath = AccountPage.newAddressPath
    static let addressesPath = "\(AccountPage.path)/addresses"
    static let claimField = "claim"
    private static let addressCodePath = "\(newAddressPath)/code"
    private static let resendPath = "\(newAddressPath)/resend"

    func addAddresses(to table: inout RouteTable) {
        table.add(.get, Self.newAddressPath, query: ["ui_locales", Self.claimField]) { [self] request, context in
            let visit = Visit(try await Incoming(request, context), cookies, ports)
            let fields = try FormFields(query: visit.incoming)
            let claim = fields[Self.claimField].flatMap { IdentifierID($0) }
            return try await newAddressPage(visit, fields["ui_locales"], of: claim)
        }
        table.add(.post, Self.newAddressPath) { [self] request, context in
            let (carried, form, visit) = try accountFields(try await Incoming(request, context))
            let typed = form[AddAddressPage.field] ?? ""
            guard let address = PersonalAddress(typed: typed) else {
                return try await newAddressPage(visit, carried.languages, typed: typed, .malformed)
            }
            return try await send(to: address, after: nil, carried, visit)
        }
        table.add(.post, Self.resendPath) { [self] request, context in
            let (carried, _, visit) = try accountFields(try await Incoming(request, context))
            guard let sent = carried.verification else { return Self.redirect(to: Self.newAddressPath) }
            return try await send(to: sent.address, after: sent, carried, visit)
        }
        table.add(.post, Self.addressCodePath) { [self] request, context in
            let (carried, form, visit) = try accountFields(try await Incoming(request, context))
            guard let sent = carried.verification else { return Self.redirect(to: Self.newAddressPath) }
            let typed = form[AddressCodePage.field] ?? ""
            guard let code = EntryNumber(typed.filter { $0 != " " }) else {
                return try await addressCodePage(sent, carried, visit, .malformed, typed: typed)
            }
            return try await enter(code, typed: typed, of: sent, carried, visit)
        }
        table.add(.get, "\(Self.addressesPath)/:id", query: ["ui_locales"]) { [self] request, context in
            let visit = Visit(try await Incoming(request, context), cookies, ports)
            return try await addressPage(visit, try FormFields(query: visit.incoming)["ui_locales"])
        }
        table.add(.post, "\(Self.addressesPath)/:id/remove") { [self] request, context in
            let (carried, _, visit) = try accountFields(try await Incoming(request, context))
            guard let id = visit.incoming.parameter("id").flatMap({ IdentifierID($0) }) else {
                return Self.redirect(to: AccountPage.path)
            }
            return try await remove(id, carried, visit)
        }
    }

    /// The page that asks for an address; whatever would refuse it afterwards refuses it before.
    private func newAddressPage(
        _ visit: Visit, _ languages: String?, of claim: IdentifierID? = nil, typed: String? = nil,
        _ problem: AddAddressPage.Problem? = nil
    ) async throws -> Response {
        try await withAccount(visit, languages) { account in
            guard let takes = account.takes else { return Self.redirect(to: AccountPage.path) }
            if let page = try await confirmation(of: account, languages, visit) { return page }
            guard account.mayAddAddresses else {
                return try await accountPage(visit, .signInTooWeak, languages: languages)
            }
            let named = account.claims.first { $0.claim.id == claim }?.claim.address
            return try await accountReply(account, visit, languages, path: Self.newAddressPath) { _ in
                AddAddressPage(
                    action: Self.newAddressPath, takes: takes, typed: typed ?? named?.description, problem: problem,
                    showsPasskeys: account.showsPasskeys)
            }
        }
    }

    private func send(
        to address: PersonalAddress, after earlier: Verification?, _ carried: SealedAccount, _ visit: Visit
    ) async throws -> Response {
        let outcome = try await AskAddressCode.ask(
            address, after: earlier, by: visit.session, shownTo: carried.user, from: visit.place,
            in: tag(carried.languages, visit), ports: ports)
        switch outcome {
        case .sent(let sent): return try await addressCodePage(sent, carried, visit)
        case .tooEarly(let sent, let wait):
            return try await addressCodePage(sent, carried, visit, .tooEarly(seconds: Int(wait.value)))
        case .signIn: return try await confirmPerson(carried, visit)
        case .tooWeak: return try await accountPage(visit, .signInTooWeak, languages: carried.languages)
        case .notSent: return try await newAddressPage(visit, carried.languages, typed: "\(address)", .notSent)
        case .yours: return try await newAddressPage(visit, carried.languages, typed: "\(address)", .yours)
        case .full: return try await accountPage(visit, .addressesFull, languages: carried.languages)
        case .tooMany(let wait):
            throw PageError.tooMany(retryAfter: wait, at: ports.time.now)
                .said(in: language(carried.languages, visit.incoming))
        }
    }

    /// The page with the field for the code.
    private func addressCodePage(
        _ sent: Verification, _ carried: SealedAccount, _ visit: Visit, _ problem: CodePage.Problem? = nil,
        typed: String? = nil
    ) async throws -> Response {
        try await withAccount(visit, carried.languages) { account in
            // A form may be sent again when somebody else has signed in meanwhile.
            guard account.visit.user == carried.user else { return Self.redirect(to: AccountPage.path) }
            let sentAt = sent.id.time
            let pause = PageCountdown(
                beginsAt: Int(sentAt.seconds), expiresAt: Int(sentAt.adding(Verification.pause).seconds))
            let page = AddressCodePage(
                channel: sent.address.kind == .email ? .email : .text, address: "\(sent.address)",
                expiresAt: Int(sentAt.adding(Verification.lifetime).seconds), action: Self.addressCodePath,
                resendAction: Self.resendPath,
                resendWait: pause.expiresAt > Int(ports.time.now.seconds) ? pause : nil,
                anotherPath: Self.newAddressPath, typed: typed, problem: problem, showsPasskeys: account.showsPasskeys)
            return try await accountReply(
                account, visit, carried.languages, path: Self.newAddressPath, verification: sent
            ) { _ in page }
        }
    }

    private func enter(
        _ code: EntryNumber, typed: String, of sent: Verification, _ carried: SealedAccount, _ visit: Visit
    ) async throws -> Response {
        let outcome = try await EnterAddressCode.enter(
            code, of: sent, by: visit.session, shownTo: carried.user, from: visit.place,
            in: tag(carried.languages, visit),
            ports: ports)
        let announcement: AccountPage.Announcement
        switch outcome {
        case .done: announcement = .addressAdded("\(sent.address)")
        case .taken: announcement = .addressTaken("\(sent.address)")
        case .full: announcement = .addressesFull
        case .wrong(let left):
            note(.wrongCode, by: sent.address.way, visit)
            return try await addressCodePage(sent, carried, visit, .wrong(triesLeft: left), typed: typed)
        case .over:
            note(.codeOver, by: sent.address.way, visit)
            return try await addressCodePage(sent, carried, visit, .expired)
        case .signIn: return try await confirmPerson(carried, visit)
        case .tooWeak: announcement = .signInTooWeak
        }
        return try await accountPage(visit, announcement, languages: carried.languages)
    }

    /// The page of one address.
    private func addressPage(_ visit: Visit, _ languages: String?) async throws -> Response {
        let id = visit.incoming.parameter("id").flatMap { IdentifierID($0) }
        return try await withAccount(visit, languages) { account in
            guard let identifier = account.addresses.first(where: { $0.id == id }) else {
                return Self.redirect(to: AccountPage.path)
            }
            let standing: AddressPage.Standing =
                switch account.addressRemovals[identifier.id] {
                case .never: .only
                case .from(let time): .laterRemovable(from: Int(time.seconds))
                case .now, .tooWeak, nil: .removable
                }
            let page = AddressPage(
                id: "\(identifier.id)", address: "\(identifier.address)",
                verifiedAt: Int(identifier.verifiedAt.seconds), standing: standing,
                endsThisSession: account.visit.session.authentication.evidence
                    == .code(identifier.id, identifier.address.kind), showsPasskeys: account.showsPasskeys)
            return try await accountReply(account, visit, languages, path: "\(Self.addressesPath)/\(identifier.id)") {
                _ in
                page
            }
        }
    }

    private func remove(_ id: IdentifierID, _ carried: SealedAccount, _ visit: Visit) async throws -> Response {
        let outcome = try await RemoveOwnAddress.remove(
            id, by: visit.session, shownTo: carried.user, from: visit.place, in: tag(carried.languages, visit),
            ports: ports)
        let announcement: AccountPage.Announcement
        switch outcome {
        case .done(let address): announcement = .addressRemoved("\(address)")
        case .signIn: return try await confirmPerson(carried, visit)
        case .notFound, .refused(.now): announcement = .gone
        case .refused(.never): announcement = .addressNeeded
        case .refused(.from(let time)): announcement = .addressTooNew(until: Int(time.seconds))
        case .refused(.tooWeak): announcement = .signInTooWeak
        }
        return try await accountPage(visit, announcement, languages: carried.languages)
    }
}

extension Account {
    /// Which addresses can be added; nil for none.
    fileprivate var takes: AddAddressPage.Takes? {
        switch (addressKinds.contains(.email), addressKinds.contains(.phone)) {
        case (true, true): .emailAndPhone
        case (true, false): .email
        case (false, true): .phone
        case (false, false): nil
        }
    }

    /// Whether the account page shows passkeys.
    var showsPasskeys: Bool { passkeyOffer != .off || !passkeys.isEmpty }
}
