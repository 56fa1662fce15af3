/// The page with the number to type on the phone, which waits for the outcome.
///
/// It is got with GET, since it looks again by itself where scripts do not run. Its outcome is another page:
/// ``ApprovedPage`` or ``EndedPage``.
package struct NumberPage: HostedPage {
    /// The six digits.
    package var digits: String
    /// How long the number is good, in seconds since 1970.
    package var time: PageCountdown
    /// Where the page asks for the outcome.
    package var waiting: PageWait
    /// The buttons below.
    package var exits: PageExits

    /// Creates the page.
    package init(digits: String, time: PageCountdown, waiting: PageWait, exits: PageExits) {
        self.digits = digits
        self.time = time
        self.waiting = waiting
        self.exits = exits
    }

    /// The values of the page.
    package func values(in frame: PageFrame) -> [String: Any] {
        let names: [String: Any] = [
            "hasNames": frame.client != nil && frame.ledger.browser != nil
                && (frame.ledger.place ?? frame.ledger.address) != nil
        ]
        return names.merging(SpokenNumber.values(of: digits)) { $1 }.merging(time.values(in: frame)) { $1 }.merging(
            waiting.values
        ) { $1 }.merging(exits.values) { $1 }
    }

    /// The template of the page.
    package static let template = PageTemplate(
        "number", heading: "[[numberHeading]]", scripts: [.clock, .wait],
        main: """
            <div class="clock" \(PageCountdown.attributes) \(PageWait.attributes)>
            \(SpokenNumber.template)
            <div class="line if-live"><span></span></div>
            <p class="small if-live">[[timeLeft]]</p>
            <p class="small if-still">[[goodUntil]]{{#looksAgain}} [[looksAgain]]{{/looksAgain}}</p>
            </div>
            {{#hasNames}}
            <p>[[phoneNames]]</p>
            {{/hasNames}}
            {{#hasClient}}
            <p class="soft">[[noNotification]]</p>
            {{/hasClient}}
            <div class="acts">
            <a class="filled if-still" href="{{lookAgain}}">[[lookAgain]]</a>
            {{^looksAgain}}{{#lookByItself}}
            <a class="outlined if-still" href="{{lookByItself}}">[[lookByItself]]</a>
            {{/lookByItself}}{{/looksAgain}}
            \(PageExits.template)
            </div>
            """)
}
