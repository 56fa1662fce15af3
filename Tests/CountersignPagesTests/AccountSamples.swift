import CountersignPages

extension Samples {
    /// 09:30 on 4 March 2026, in UTC.
    static let march = 1_772_616_600
    private static let hour = 3600
    private static let day = 86_400
    /// 09:30 on the day of ``now``.
    private static let morning = now - 45 * 60 - 2

    /// The pages of the account in every state.
    static func account(_ foreign: ForeignTexts, _ language: PageLanguage) -> [Sample] {
        var texts = foreign
        if language == .german, texts.browser == ForeignTexts().browser {
            texts.browser = "Firefox unter Windows"
            texts.place = "Berlin, Deutschland"
        }
        let frame = PageFrame(
            language: language, issuerHost: texts.issuer, ledger: .init(identifier: texts.identifier),
            request: texts.request, helpURL: "https://acme.example/help", privacyURL: "https://acme.example/privacy",
            languageSwitch: .link(AccountPage.path), clock: clock, now: now)
        var known = frame
        known.client = .init(name: texts.client, host: texts.host)
        known.client?.logoPath = texts.logoPath
        known.client?.accentPath = texts.accentPath
        known.ledger = .init()
        let userCodes = userCodePages.map { Sample(name: "13-user-code\($0)", page: $1, frame: frame) }
        return accountPages(texts).map { Sample(name: "12-account\($0)", page: $1, frame: frame) }
            + [Sample(name: "12-account-empty-client", page: AccountPage(), frame: known)]
            + removals(texts).map { Sample(name: "13-remove-device\($0)", page: $1, frame: frame) }
            + passkeyPages(texts).map { Sample(name: "13-passkey\($0)", page: $1, frame: frame) }
            + [
                Sample(
                    name: "13-create-passkey",
                    page: CreatePasskeyPage(
                        offer: .init(options: texts.creationOptions, action: "/account/passkeys/create")), frame: frame)
            ]
            + addAddressPages(texts).map { Sample(name: "13-add-address\($0)", page: $1, frame: frame) }
            + addressCodePages(texts).map { Sample(name: "13-address-code\($0)", page: $1, frame: frame) }
            + addressPages(texts).map { Sample(name: "13-address\($0)", page: $1, frame: frame) }
            + userCodes
    }

    private static func accountPages(_ texts: ForeignTexts) -> [(String, AccountPage)] {
        let pixel = device(texts, texts.device)
        var suspended = device(texts, texts.otherDevice)
        suspended.state = .suspended
        let whole = AccountPage(
            identifiers: [
                .init(text: texts.identifier, standing: .verified(at: march), path: texts.path),
                .init(text: texts.phone, standing: .claimed(by: texts.client), path: texts.path),
                .init(text: texts.phone, standing: .claimed(by: nil)),
            ], addPath: texts.path, devices: [pixel, waiting(texts), suspended] + methods(texts),
            passkeys: passkeys(texts), createPasskeyPath: texts.path, sessions: sessions(texts), access: access(texts),
            activity: activity(texts), earlierPath: texts.path)
        var open = pixel
        open.reach = .clientAlone
        var early = waiting(texts)
        early.reach = .operatorsSites
        var unconfirmed = whole
        unconfirmed.devices = [open, early]
        var elsewhere = unconfirmed
        elsewhere.confirming = .afterSignIn(with: texts.otherDevice)
        var nowhere = unconfirmed
        nowhere.confirming = .afterSignIn(with: nil)
        var confirming = unconfirmed
        for index in confirming.devices.indices { confirming.devices[index].confirmingFrom = now + 4 * day }
        var calm = whole
        calm.devices = [pixel]
        calm.passkeys.removeLast(calm.passkeys.count - 1)
        calm.sessions.removeLast(calm.sessions.count - 1)
        let said: [(String, AccountPage.Announcement)] = [
            ("removed", .removed(texts.device)), ("suspended", .suspended(texts.device)),
            ("resumed", .resumed(texts.device)), ("method-undone", .methodUndone(texts.device)),
            ("confirmed", .confirmed(texts.device)), ("session", .sessionEnded), ("others", .othersEnded),
            ("access", .accessEnded(texts.client)),
            ("confirmed-later", .confirmedLater(texts.device, from: now + 4 * day)),
            ("too-weak", .signInTooWeak), ("gone", .gone), ("passkey-created", .passkeyCreated(texts.passkey)),
            ("passkey-created-later", .passkeyCreatedLater(texts.passkey, from: now + day)),
            ("passkey-removed", .passkeyRemoved(texts.passkey)), ("passkey-renamed", .passkeyRenamed(texts.passkey)),
            ("passkeys-full", .passkeysFull), ("passkey-not-created", .passkeyNotCreated),
            ("address-added", .addressAdded(texts.identifier)), ("address-removed", .addressRemoved(texts.phone)),
            ("address-taken", .addressTaken(texts.identifier)), ("address-needed", .addressNeeded),
            ("addresses-full", .addressesFull),
            ("address-too-new", .addressTooNew(until: now + 4 * day)),
            ("user-code-set", .userCodeSet), ("user-code-removed", .userCodeRemoved),
        ]
        var methodsWait = calm
        methodsWait.devices[0].waitingMethods = [
            .init(.pin, name: "pin", until: morning + day), .init(.biometric, name: "biometric", until: morning + day),
            .init(.custom, name: "custom:\(texts.id)", until: morning + day),
        ]
        var coded = calm
        coded.hasUserCode = true
        coded.activity = [.init(.userCodeSet, at: morning), .init(.userCodeRemoved, at: march)]
        var reported = calm
        reported.reports = [
            .init(
                at: now - 16 * 60, until: now - 16 * 60 + day, client: texts.client,
                origin: "\(texts.browser), \(texts.address), \(texts.place)", device: texts.device),
            .init(at: morning, until: morning + day, client: texts.client, isOfClientAlone: true, device: texts.device),
            .init(at: morning, until: morning + day),
        ]
        suspended.canBeResumed = true
        methodsWait.devices.append(suspended)
        return [
            ("", whole), ("-empty", AccountPage()), ("-methods-wait", methodsWait), ("-unconfirmed", unconfirmed),
            ("-unconfirmed-elsewhere", elsewhere), ("-unconfirmed-nowhere", nowhere), ("-confirming", confirming),
            ("-no-passkeys", AccountPage(createPasskeyPath: texts.path)),
            ("-passkeys-alone", AccountPage(passkeys: calm.passkeys)), ("-user-code-set", coded),
            ("-user-code", AccountPage(hasUserCode: false)), ("-reported", reported),
        ]
            + said.map { name, announcement in
                var page = calm
                page.announcement = announcement
                return ("-said-\(name)", page)
            }
    }

    private static func device(_ texts: ForeignTexts, _ name: String) -> AccountPage.Device {
        .init(
            id: texts.id, name: name, methods: [.pin, .biometric], enrolledAt: march, client: texts.client,
            lastApprovedAt: now - 94 * 60)
    }

    private static func waiting(_ texts: ForeignTexts) -> AccountPage.Device {
        .init(
            id: texts.id, name: texts.newDevice, methods: [.pin], enrolledAt: morning, client: texts.client,
            place: texts.place, state: .waiting(until: morning + day))
    }

    private static func passkeys(_ texts: ForeignTexts) -> [AccountPage.Passkey] {
        [
            .init(
                id: texts.id, name: texts.passkey, createdAt: march, lastUsedAt: now - 94 * 60, isSynced: true,
                waitsUntil: nil, isConfirmed: true),
            .init(
                id: texts.id, name: texts.newDevice, createdAt: morning, lastUsedAt: nil, isSynced: false,
                waitsUntil: morning + day, isConfirmed: true),
            .init(
                id: texts.id, name: texts.otherDevice, createdAt: march, lastUsedAt: nil, isSynced: false,
                waitsUntil: nil, isConfirmed: false),
        ]
    }

    private static func passkeyPages(_ texts: ForeignTexts) -> [(String, PasskeyPage)] {
        let page = PasskeyPage(
            id: texts.id, name: texts.passkey, createdAt: march, lastUsedAt: now - 94 * 60, isSynced: true,
            waitsUntil: nil, endsThisSession: false)
        var wrong = page
        wrong.hasNameError = true
        let waiting = PasskeyPage(
            id: texts.id, name: texts.newDevice, createdAt: morning, lastUsedAt: nil, isSynced: false,
            waitsUntil: morning + day, endsThisSession: true)
        return [("", page), ("-name-error", wrong), ("-waiting", waiting)]
    }

    private static func addAddressPages(_ texts: ForeignTexts) -> [(String, AddAddressPage)] {
        let kinds: [(String, AddAddressPage.Takes)] = [("", .emailAndPhone), ("-email", .email), ("-phone", .phone)]
        let problems: [(String, AddAddressPage.Problem)] = [
            ("-malformed", .malformed), ("-not-sent", .notSent), ("-yours", .yours),
        ]
        return kinds.flatMap { kind, takes in
            [(kind, AddAddressPage(action: texts.path, takes: takes, showsPasskeys: true))]
                + problems.map { problem, value in
                    let page = AddAddressPage(
                        action: texts.path, takes: takes, typed: takes == .phone ? texts.phone : texts.identifier,
                        problem: value)
                    return (kind + problem, page)
                }
        }
    }

    private static func addressCodePages(_ texts: ForeignTexts) -> [(String, AddressCodePage)] {
        let page = AddressCodePage(
            channel: .email, address: texts.identifier, expiresAt: now + 598, action: texts.path,
            resendAction: texts.path, resendWait: PageCountdown(beginsAt: now - 6, expiresAt: now + 24),
            anotherPath: texts.path, showsPasskeys: true)
        let problems: [(String, CodePage.Problem)] = [
            ("-malformed", .malformed), ("-wrong", .wrong(triesLeft: 3)), ("-wrong-once", .wrong(triesLeft: 1)),
            ("-expired", .expired), ("-too-early", .tooEarly(seconds: 24)), ("-too-early-once", .tooEarly(seconds: 1)),
        ]
        let text = AddressCodePage(
            channel: .text, address: texts.phone, expiresAt: now + 598, action: texts.path, resendAction: texts.path,
            anotherPath: texts.path)
        return [("", page), ("-text", text)]
            + problems.map { name, problem in
                let page = AddressCodePage(
                    channel: .email, address: texts.identifier, expiresAt: now + 598, action: texts.path,
                    resendAction: texts.path, anotherPath: texts.path, typed: texts.digits, problem: problem)
                return (name, page)
            }
    }

    private static func addressPages(_ texts: ForeignTexts) -> [(String, AddressPage)] {
        let page = AddressPage(
            id: texts.id, address: texts.identifier, verifiedAt: march, standing: .removable, showsPasskeys: true)
        var ending = page
        ending.endsThisSession = true
        let phone = AddressPage(id: texts.id, address: texts.phone, verifiedAt: morning, standing: .removable)
        let only = AddressPage(id: texts.id, address: texts.identifier, verifiedAt: march, standing: .only)
        let later = AddressPage(
            id: texts.id, address: texts.identifier, verifiedAt: march, standing: .laterRemovable(from: now + 4 * day))
        return [("", page), ("-ends-session", ending), ("-phone", phone), ("-only", only), ("-later", later)]
    }

    private static var userCodePages: [(String, UserCodePage)] {
        [
            ("", UserCodePage(isSet: false)), ("-set", UserCodePage(isSet: true, showsPasskeys: true)),
            ("-malformed", UserCodePage(isSet: true, hasCodeError: true)),
        ]
    }

    private static func methods(_ texts: ForeignTexts) -> [AccountPage.Device] {
        let methods: [Set<AccountPage.Device.Method>] = [[.pin], [.biometric], []]
        return methods.map { methods in
            var device = device(texts, texts.otherDevice)
            device.methods = methods
            device.lastApprovedAt = nil
            return device
        }
    }

    private static func sessions(_ texts: ForeignTexts) -> [AccountPage.Session] {
        [
            .init(
                id: texts.id, browser: texts.browser, place: texts.place, since: now, lastSeen: now,
                way: .device(texts.device), isThisOne: true),
            .init(
                id: texts.id, browser: texts.browser, place: texts.place, since: march, lastSeen: now - 15 * hour,
                way: .email),
            .init(
                id: texts.id, browser: nil, place: texts.place, since: now - 2 * hour,
                way: .deviceCode(client: texts.client)),
            .init(id: texts.id, browser: nil, place: nil, since: march - 100 * day, lastSeen: now - day, way: .text),
            .init(id: texts.id, browser: texts.browser, place: nil, since: march),
            .init(id: texts.id, browser: texts.browser, place: nil, since: march, way: .passkey(texts.passkey)),
            .init(id: texts.id, browser: texts.browser, place: nil, since: march, way: .passkey(nil)),
        ]
    }

    private static func access(_ texts: ForeignTexts) -> [AccountPage.Access] {
        [
            .init(
                clientID: texts.id, client: texts.client,
                scopes: [.email, .phone, .staySignedIn, .addDevice, .identity, .other(texts.why)], since: march),
            .init(clientID: texts.id, client: texts.client, scopes: [], since: now),
        ]
    }

    private static func activity(_ texts: ForeignTexts) -> [AccountPage.Activity] {
        let kinds: [AccountPage.Activity.Kind] = [
            .approved(texts.client), .deviceRemoved(texts.device), .deviceSuspended(texts.device),
            .deviceResumed(texts.device), .deviceConfirmed(texts.device), .deviceConfirming(texts.device),
            .passkeyCreated(texts.passkey), .passkeyRemoved(texts.passkey), .methodChanged(texts.device),
            .emailVerified, .phoneVerified, .emailRemoved, .phoneRemoved,
            .consentGiven(texts.client), .accessEnded(texts.client), .sessionEnded,
        ]
        return [
            .init(
                .signedIn(texts.client), at: now, browser: texts.browser, place: texts.place, device: texts.device),
            .init(.reported(texts.client), at: now - 16 * 60, browser: texts.browser, place: texts.place),
            .init(.deviceEnrolled(texts.newDevice), at: morning, place: texts.place),
            .init(.declined(texts.client), at: now - 16 * hour, device: texts.device),
        ] + kinds.enumerated().map { .init($1, at: march - $0 * day) }
    }

    private static func removals(_ texts: ForeignTexts) -> [(String, RemoveDevicePage)] {
        let page = RemoveDevicePage(
            id: texts.id, name: texts.device, enrolledAt: march, client: texts.client, lastUsedAt: now - 94 * 60,
            lastUsedPlace: texts.place, showsPasskeys: true)
        var only = page
        only.endsThisSession = true
        let remaining: [(String, RemoveDevicePage.Remaining)] = [
            ("next-passkey", .init(nextDevice: texts.newDevice, way: .passkey)),
            ("passkey", .init(nextDevice: nil, way: .passkey)),
            ("next-email", .init(nextDevice: texts.newDevice, way: .email)),
            ("next-text", .init(nextDevice: texts.newDevice, way: .text)),
            ("next-nothing", .init(nextDevice: texts.newDevice, way: .none)),
            ("email", .init(nextDevice: nil, way: .email)), ("text", .init(nextDevice: nil, way: .text)),
            ("nothing", .init(nextDevice: nil, way: .none)),
        ]
        let waiting = RemoveDevicePage(
            id: texts.id, name: texts.newDevice, enrolledAt: morning, client: texts.client, state: .waiting)
        var suspended = page
        suspended.state = .suspended
        return [("", page), ("-waiting", waiting), ("-suspended", suspended)]
            + remaining.map { name, remaining in
                only.remaining = remaining
                return ("-only-\(name)", only)
            }
    }
}
