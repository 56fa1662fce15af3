extension PageFrame {
    /// A whole page as a template.
    ///
    /// A page has two forms at most: its own, and the one named "other", to which every button outside the page's own
    /// form belongs. So the sealed request is in the page twice, however many buttons there are, and Enter in a field
    /// presses the page's own button.
    ///
    /// - Parameters:
    ///   - panel: what the panel shows.
    ///   - heading: the text of the heading and the first part of the title, with words as `[[word]]`.
    ///   - takesFocus: whether the heading takes the focus.
    ///   - scripts: the scripts that the page loads.
    ///   - announcement: what was just done, said where the value `announcement` is there; nil for nothing.
    ///   - main: what stands below the heading.
    static func template(
        panel: Panel, heading: String, takesFocus: Bool, scripts: [PageAssets.Script], announcement: String?,
        main: String
    ) -> String {
        let title = heading.replacing("]]", with: "|plain]]")
        let focus = takesFocus ? #" tabindex="-1" autofocus="autofocus""# : ""
        let parts: [String] =
            if let announcement {
                [announcing(announcement), main]
            } else {
                main.contains(status) ? [main] : [main, status]
            }
        let (header, stylesheets) =
            switch panel {
            case .asking: (askingHeader, [PageAssets.stylesheetPath])
            case .account(let part):
                (accountHeader(at: part), [PageAssets.stylesheetPath, PageAssets.accountStylesheetPath])
            }
        return """
            \(head(title: title, stylesheets: stylesheets, scripts: scripts))
            <body>
            <a class="skip" href="#main">[[skipToMain]]</a>
            \(header)
            <main id="main"><div>
            <h1\(focus)>\(heading)</h1>
            \(parts.joined(separator: "\n"))
            <form id="other" method="post">\(sealedRequest)</form>
            </div></main>
            \(footer)
            </body>
            </html>

            """
    }

    /// Where scripts announce something: at the end, unless the page has it elsewhere.
    static let status = #"<p role="status"></p>"#

    /// Why something was not done, which takes the focus, and so is read out.
    static func refusing(_ reason: String) -> String {
        #"<p class="error" role="alert" tabindex="-1" autofocus="autofocus">\#(Icons.sign)<span>\#(reason)</span></p>"#
    }

    /// The hidden field of each form.
    static let sealedRequest =
        #"{{#request}}<input type="hidden" name="request" value="{{request}}" />{{/request}}"#

    private static func head(title: String, stylesheets: [String], scripts: [PageAssets.Script]) -> String {
        let styles = stylesheets.map { #"<link rel="stylesheet" href="\#($0)" />"# }
        let loaded = scripts.map { script in
            let element = #"<script type="module" blocking="render" src="\#(PageAssets.path(of: script))"></script>"#
            // Where the page offers no passkey, the script would do nothing.
            return script == .passkey ? "{{#passkey}}\n\(element)\n{{/passkey}}" : element
        }
        return """
            <!DOCTYPE html>
            <html lang="{{language}}" dir="ltr">
            <head>
            <meta charset="utf-8" />
            <meta name="viewport" content="width=device-width, initial-scale=1" />
            <meta name="color-scheme" content="light dark" />
            <title>{{#hasError}}[[errorTitle|plain]]{{/hasError}}\(title) – {{owner}}</title>
            <link rel="icon" href="data:," />
            \(styles.joined(separator: "\n"))
            {{#accent}}
            <link rel="stylesheet" href="{{accent}}" />
            {{/accent}}
            {{#onwardURL}}
            <meta http-equiv="refresh" content="0;url={{onwardURL}}" />
            {{/onwardURL}}
            {{#looksAgain}}
            <noscript><meta http-equiv="refresh" content="5" /></noscript>
            {{/looksAgain}}
            \((loaded + ["</head>"]).joined(separator: "\n"))
            """
    }

    private static let askingHeader = """
        <header>
        {{#hasClient}}
        <div class="who">
        {{#logo}}
        <img class="logo" src="{{logo}}" alt="" />
        {{/logo}}
        <div>
        <p>{{#isSignIn}}[[signInTo]]{{/isSignIn}}{{#isAskedBy}}[[askedBy]]{{/isAskedBy}}\
        {{#isSignedOut}}[[signedOutOf]]{{/isSignedOut}}</p>
        <p class="client"><bdi>{{client}}</bdi></p>
        </div>
        </div>
        <p class="small"><bdi dir="ltr">{{clientHost}}</bdi></p>
        {{/hasClient}}
        {{^hasClient}}
        <p class="client"><bdi dir="ltr">{{issuer}}</bdi></p>
        {{/hasClient}}
        {{#hasLedger}}
        <dl>
        {{#identifier}}
        <div><dt>[[factAs]]</dt><dd><bdi dir="ltr">{{identifier}}</bdi>\
        {{#change}}<button class="link" form="other" formaction="{{change}}">[[change]]</button>{{/change}}</dd></div>
        {{/identifier}}
        {{#isNamedByClient}}
        <div><dt>[[factAs]]</dt><dd><span>[[namedByClient]]</span>\
        {{#change}}<button class="link" form="other" formaction="{{change}}">[[change]]</button>{{/change}}</dd></div>
        {{/isNamedByClient}}
        {{#hasFrom}}
        <div><dt>[[factFrom]]</dt><dd>{{#browser}}<bdi>{{browser}}</bdi>{{/browser}}\
        <span class="soft">{{#ledgerPlace}}<bdi>{{ledgerPlace}}</bdi>{{/ledgerPlace}}{{#hasBoth}}, {{/hasBoth}}\
        {{#ledgerAddress}}<bdi dir="ltr">{{ledgerAddress}}</bdi>{{/ledgerAddress}}</span></dd></div>
        {{/hasFrom}}
        {{#askedAt}}
        <div><dt>[[factAt]]</dt><dd><time datetime="{{askedAtUTC}}">{{askedAt}}</time></dd></div>
        {{/askedAt}}
        </dl>
        {{/hasLedger}}
        </header>
        """

    private static let footer = """
        <footer>
        <p>[[youAreAt]]</p>
        <p class="links">
        {{#helpURL}}
        <a href="{{helpURL}}">[[help]]</a>
        {{/helpURL}}
        {{#privacyURL}}
        <a href="{{privacyURL}}">[[privacy]]</a>
        {{/privacyURL}}
        {{#languageLink}}
        <a href="{{languageLink}}?ui_locales={{otherLanguage}}" lang="{{otherLanguage}}">{{otherLanguageName}}</a>
        {{/languageLink}}
        {{#languagePost}}
        <button class="link" form="other" formaction="{{languagePost}}" name="ui_locales" value="{{otherLanguage}}" \
        lang="{{otherLanguage}}">{{otherLanguageName}}</button>
        {{/languagePost}}
        </p>
        </footer>
        """
}
