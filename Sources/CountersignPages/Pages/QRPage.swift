import Encodings

/// The page with a QR code to scan with the phone.
package struct QRPage: HostedPage {
    /// The picture of the code, black on white.
    package enum Picture: Hashable, Sendable {
        /// A picture that stands in the page itself.
        case png([UInt8])
        /// A picture at a path on our own host.
        case path(String)

        fileprivate var source: String {
            switch self {
            case .png(let bytes): "data:image/png;base64,\(Base64.encode(bytes))"
            case .path(let path): path
            }
        }
    }

    /// The picture.
    package var picture: Picture
    /// How long the code is good.
    package var time: PageCountdown
    /// Where the page asks for the outcome.
    package var waiting: PageWait
    /// Where "Show a new code" leads where scripts do not run.
    package var renewalPath: String
    /// The buttons below.
    package var exits: PageExits

    /// Creates the page.
    package init(picture: Picture, time: PageCountdown, waiting: PageWait, renewalPath: String, exits: PageExits) {
        self.picture = picture
        self.time = time
        self.waiting = waiting
        self.renewalPath = renewalPath
        self.exits = exits
    }

    /// The values of the page.
    package func values(in frame: PageFrame) -> [String: Any] {
        let hasPlace = (frame.ledger.place ?? frame.ledger.address) != nil
        return ["picture": picture.source, "renewal": renewalPath, "hasPlace": hasPlace]
            .merging(time.values(in: frame)) { $1 }.merging(waiting.values) { $1 }.merging(exits.values) { $1 }
    }

    /// The template of the page.
    package static let template = PageTemplate(
        "qr", heading: "[[qrHeading]]", scripts: [.clock, .wait],
        main: """
            <div class="scan">
            <img src="{{picture}}" alt="[[qrImage|plain]]" width="232" height="232" />
            <div>
            <ol>
            {{#hasClient}}
            <li>[[qrStepOpen]]</li>
            {{/hasClient}}
            {{#hasPlace}}
            <li>[[qrStepCheck]]</li>
            {{/hasPlace}}
            <li>[[qrStepApprove]]</li>
            </ol>
            <div class="clock" \(PageCountdown.attributes) \(PageWait.attributes)>
            <p class="small if-live">[[qrTimeLeft]]</p>
            <p class="small if-still">[[goodUntil]]{{#looksAgain}} [[looksAgain]]{{/looksAgain}}</p>
            </div>
            </div>
            </div>
            <div class="acts">
            <a class="filled if-still" href="{{lookAgain}}">[[lookAgain]]</a>
            {{^looksAgain}}{{#lookByItself}}
            <a class="outlined if-still" href="{{lookByItself}}">[[lookByItself]]</a>
            {{/lookByItself}}{{/looksAgain}}
            <a class="outlined if-still" href="{{renewal}}">[[showNewCode]]</a>
            \(PageExits.template)
            </div>
            """)
}
