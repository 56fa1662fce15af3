extension AccountPage {
    /// A passkey.
    package struct Passkey: Hashable, Sendable {
        /// The name in paths.
        package var id: String
        /// The name that the person knows it by.
        package var name: String
        /// When it was created, in seconds since 1970.
        package var createdAt: Int
        /// When it was last used, in seconds since 1970; nil where it was not.
        package var lastUsedAt: Int?
        /// Whether a password manager keeps it on several devices.
        package var isSynced: Bool
        /// Until when it signs nobody in, in seconds since 1970; nil where it does now.
        package var waitsUntil: Int?
        /// Whether it counts for everybody; otherwise it counts on the operator's own sites alone.
        package var isConfirmed: Bool

        /// Creates a passkey.
        package init(
            id: String, name: String, createdAt: Int, lastUsedAt: Int? = nil, isSynced: Bool, waitsUntil: Int? = nil,
            isConfirmed: Bool = true
        ) {
            self.id = id
            self.name = name
            self.createdAt = createdAt
            self.lastUsedAt = lastUsedAt
            self.isSynced = isSynced
            self.waitsUntil = waitsUntil
            self.isConfirmed = isConfirmed
        }
    }
}

extension AccountPage.Passkey {
    func values(in frame: PageFrame) -> [String: Any] {
        Dictionary(present: [
            "id": PageAddress.segment(id), "name": name, "day": frame.day(createdAt),
            "moment": frame.moment(createdAt, as: .adverb), "lastUsed": lastUsedAt.map { frame.moment($0) },
            "isSynced": isSynced, "until": waitsUntil.map { frame.moment($0) }, "isUnconfirmed": !isConfirmed,
        ])
    }

    /// The passkeys that wait, each with what to do if one does not know it.
    static let notices = """
        {{#waitingPasskeys}}
        <div class="notice">
        <p>[[passkeyNotice]]</p>
        <p class="acts"><a class="outlined" href="/account/passkeys/{{id}}">[[lookAtPasskey]]</a></p>
        </div>
        {{/waitingPasskeys}}
        """

    /// The rows of the passkeys, where there are some or one can be created.
    static let section = """
        {{#showsPasskeys}}
        <h2 id="passkeys">[[accountPasskeys]]</h2>
        {{#hasPasskeys}}
        <ul class="rows">
        {{#passkeys}}
        <li><div>
        <b><bdi>{{name}}</bdi></b>
        {{#.until}}
        <span class="tag">[[tagWaiting]]</span>
        {{/.until}}
        {{#isUnconfirmed}}
        <span class="tag">[[tagNotConfirmed]]</span>
        {{/isUnconfirmed}}
        <span class="small">{{#.until}}[[countsFrom]]{{/.until}}{{^.until}}\
        {{#isSynced}}[[synced]]{{/isSynced}}{{^isSynced}}[[onOneDevice]]{{/isSynced}}. \
        {{#.lastUsed}}[[lastUse]]{{/.lastUsed}}{{^.lastUsed}}[[createdOn]]{{/.lastUsed}}{{/.until}}\
        {{#isUnconfirmed}}. [[operatorsSitesOnly]]{{/isUnconfirmed}}</span>
        </div>
        <a class="link" href="/account/passkeys/{{id}}" aria-label="[[changePasskey|plain]]">[[change]]</a>
        </li>
        {{/passkeys}}
        </ul>
        {{/hasPasskeys}}
        {{^hasPasskeys}}
        <p class="soft">[[noPasskeys]]</p>
        {{/hasPasskeys}}
        {{#passkey}}
        <p class="acts if-live"><a class="outlined" href="{{path}}">[[createPasskey]]</a></p>
        {{/passkey}}
        {{/showsPasskeys}}
        """
}
