import CountersignCore
import CountersignPages
import CountersignWire
import Encodings
import Hummingbird

/// The page of the account on which people set the code without which no client's server has their devices asked.
///
/// Spec: CIBA Core 1.0 §7.1.2; docs/decisions/0097-user-code.md.
extension SignInDoor {
    func addUserCode(to table: inout RouteTable) {
        table.add(.get, UserCodePage.path, query: ["ui_locales"]) { [self] request, context in
            let visit = Visit(try await Incoming(request, context), cookies, ports)
            return try await userCodePage(visit, try FormFields(query: visit.incoming)["ui_locales"])
        }
        table.add(.post, UserCodePage.path) { [self] request, context in
            let (carried, form, visit) = try accountFields(try await Incoming(request, context))
            guard let code = BackchannelUserCode(form[UserCodePage.field] ?? "") else {
                return try await userCodePage(visit, carried.languages, hasCodeError: true)
            }
            return try await set(code, carried, visit)
        }
        table.add(.post, "\(UserCodePage.path)/remove") { [self] request, context in
            let (carried, _, visit) = try accountFields(try await Incoming(request, context))
            return try await set(nil, carried, visit)
        }
    }

    /// The page with the field for the code; whatever would refuse it afterwards refuses it before.
    private func userCodePage(_ visit: Visit, _ languages: String?, hasCodeError: Bool = false) async throws -> Response
    {
        try await withAccount(visit, languages) { account in
            guard let isSet = account.hasUserCode else { return Self.redirect(to: AccountPage.path) }
            if let page = try await confirmation(of: account, languages, visit) { return page }
            guard account.mayChangeUserCode else {
                return try await accountPage(visit, .signInTooWeak, languages: languages)
            }
            return try await accountReply(account, visit, languages, path: UserCodePage.path) { _ in
                UserCodePage(isSet: isSet, hasCodeError: hasCodeError, showsPasskeys: account.showsPasskeys)
            }
        }
    }

    private func set(_ code: BackchannelUserCode?, _ carried: SealedAccount, _ visit: Visit) async throws -> Response {
        let outcome = try await ChangeOwnUserCode.set(
            code, by: visit.session, shownTo: carried.user, from: visit.place, in: tag(carried.languages, visit),
            ports: ports)
        let announcement: AccountPage.Announcement
        switch outcome {
        case .done: announcement = code == nil ? .userCodeRemoved : .userCodeSet
        case .signIn: return try await confirmPerson(carried, visit)
        case .tooWeak: announcement = .signInTooWeak
        case .nothingThere: announcement = .gone
        }
        return try await accountPage(visit, announcement, languages: carried.languages)
    }
}
