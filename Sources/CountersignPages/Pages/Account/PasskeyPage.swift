/// The page of the account about one passkey, which renames and removes it.
///
/// It posts to `rename` or to `remove`, below `/account/passkeys/ID`. One that waits may be somebody else's: removing
/// it comes first.
package struct PasskeyPage: HostedPage {
    /// The field with the new name.
    package static let field = "name"

    /// The name in paths.
    package var id: String
    /// The name that the person knows it by.
    package var name: String
    /// When it was created, in seconds since 1970.
    package var createdAt: Int
    /// When it was last used, in seconds since 1970; nil for no such row.
    package var lastUsedAt: Int?
    /// Whether a password manager keeps it on several devices.
    package var isSynced: Bool
    /// Until when it signs nobody in, in seconds since 1970; nil where it does now.
    package var waitsUntil: Int?
    /// Whether this session ends with it.
    package var endsThisSession: Bool
    /// Whether what was typed is no name.
    package var hasNameError: Bool

    /// Creates the page.
    package init(
        id: String, name: String, createdAt: Int, lastUsedAt: Int? = nil, isSynced: Bool, waitsUntil: Int? = nil,
        endsThisSession: Bool = false, hasNameError: Bool = false
    ) {
        self.id = id
        self.name = name
        self.createdAt = createdAt
        self.lastUsedAt = lastUsedAt
        self.isSynced = isSynced
        self.waitsUntil = waitsUntil
        self.endsThisSession = endsThisSession
        self.hasNameError = hasNameError
    }

    /// Whether something is wrong.
    package var hasError: Bool { hasNameError }

    /// The values of the page.
    package func values(in frame: PageFrame) -> [String: Any] {
        Dictionary(present: [
            "id": PageAddress.segment(id), "name": name, "day": frame.day(createdAt, as: .start),
            "lastUsed": lastUsedAt.map { frame.moment($0, as: .start) }, "isSynced": isSynced,
            "until": waitsUntil.map { frame.moment($0, as: .start) }, "isWaiting": waitsUntil != nil,
            "endsThisSession": endsThisSession,
        ])
    }

    /// The template of the page.
    package static let template = PageTemplate(
        "passkey", panel: .account(at: .passkeys), heading: "[[changePasskey]]",
        main: """
            <dl class="facts">
            <div><dt>[[factCreated]]</dt><dd><b>{{day}}</b></dd></div>
            {{#until}}
            <div><dt>[[factCountsFrom]]</dt><dd><b>{{until}}</b></dd></div>
            {{/until}}
            {{#lastUsed}}
            <div><dt>[[factLastUsed]]</dt><dd><b>{{lastUsed}}</b></dd></div>
            {{/lastUsed}}
            <div><dt>[[factKept]]</dt><dd><b>{{#isSynced}}[[keptSynced]]{{/isSynced}}\
            {{^isSynced}}[[keptOnOne]]{{/isSynced}}</b></dd></div>
            </dl>
            {{#isWaiting}}
            \(removal(like: "filled danger"))
            <div class="rule">
            {{/isWaiting}}
            <form method="post" action="/account/passkeys/{{id}}/rename" novalidate="novalidate">\
            \(PageFrame.sealedRequest)
            <label for="name">[[passkeyName]]</label>
            {{#hasError}}
            <p class="error" id="problem">\(Icons.sign)<span>[[passkeyNameProblem]]</span></p>
            {{/hasError}}
            <input id="name" name="name" value="{{name}}" maxlength="60" autocomplete="off" dir="auto"\
            {{#hasError}} aria-invalid="true" aria-describedby="problem" autofocus="autofocus"{{/hasError}} />
            <p class="acts"><button class="{{#isWaiting}}outlined{{/isWaiting}}{{^isWaiting}}filled{{/isWaiting}}">\
            [[rename]]</button></p>
            </form>
            {{^isWaiting}}
            <div class="rule">
            \(removal(like: "outlined bad"))
            {{/isWaiting}}
            </div>
            <p class="acts"><a class="link" href="/account">[[backToAccount]]</a></p>
            """)

    private static func removal(like style: String) -> String {
        """
        <p>[[removePasskeyText]]{{#endsThisSession}} <strong>[[endsWithPasskey]]</strong>{{/endsThisSession}}</p>
        <p class="acts"><button class="\(style)" form="other" formaction="/account/passkeys/{{id}}/remove">\
        [[removePasskey]]</button></p>
        """
    }
}
