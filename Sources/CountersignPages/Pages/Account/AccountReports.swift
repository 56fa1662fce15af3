extension AccountPage {
    /// A report of a sign-in, as long as only browsers that the person has used can ask.
    package struct Report: Hashable, Sendable {
        /// When it was reported, in seconds since 1970.
        package var at: Int
        /// Until when only browsers that the person has used can ask, in seconds since 1970.
        package var until: Int
        /// The name of the client to which somebody wanted to sign in; nil where it is not known.
        package var client: String?
        /// Whether that is so at that client alone, and not at all others.
        package var isOfClientAlone: Bool
        /// The browser, the address and the place from which it was asked; nil where they are not known.
        package var origin: String?
        /// The name of the device on which it was reported; nil where it is not known.
        package var device: String?

        /// Creates a report.
        package init(
            at: Int, until: Int, client: String? = nil, isOfClientAlone: Bool = false, origin: String? = nil,
            device: String? = nil
        ) {
            self.at = at
            self.until = until
            self.client = client
            self.isOfClientAlone = isOfClientAlone
            self.origin = origin
            self.device = device
        }
    }
}

extension AccountPage.Report {
    func values(in frame: PageFrame) -> [String: Any] {
        Dictionary(present: [
            "moment": frame.moment(at, as: .start), "until": frame.moment(until), "client": client,
            "isOfClient": isOfClientAlone && client != nil, "origin": origin, "device": device,
        ])
    }

    /// What may need an act: a sign-in that was reported.
    static let notices = """
        {{#reports}}
        <div class="notice" role="group" aria-label="[[reportedSignIn|plain]]">
        <p><strong>[[reportedSignIn]]</strong> [[reportStopped]]</p>
        <dl class="facts">
        {{#.client}}
        <div><dt>[[askedBy]]</dt><dd><b><bdi>{{client}}</bdi></b></dd></div>
        {{/.client}}
        {{#.origin}}
        <div><dt>[[factFrom]]</dt><dd><b><bdi>{{origin}}</bdi></b></dd></div>
        {{/.origin}}
        <div><dt>[[factReported]]</dt><dd><b>{{#.device}}[[reportedOn]]{{/.device}}\
        {{^.device}}{{moment}}{{/.device}}</b></dd></div>
        </dl>
        <p>{{#isOfClient}}[[strangersLockedAt]]{{/isOfClient}}{{^isOfClient}}[[strangersLocked]]{{/isOfClient}}</p>
        <p class="acts"><a class="outlined" href="#sessions">[[seeSessions]]</a></p>
        </div>
        {{/reports}}
        """
}
