/// The page that asks how one wants to sign in.
package struct ChooseWayPage: HostedPage {
    /// The field that names the chosen way.
    package static let field = "way"

    /// A way to sign in.
    package enum Way: Hashable, Sendable {
        /// Typing a number on a trusted device.
        case device
        /// A passkey; shown only where one is offered and scripts run.
        case passkey
        /// A QR code.
        case qr
        /// A code to an email address.
        case email(String)
        /// A code to a phone number.
        case text(String)

        /// The value of the field ``ChooseWayPage/field``.
        package var value: String {
            switch self {
            case .device: "device"
            case .passkey: "passkey"
            case .qr: "qr"
            case .email: "email"
            case .text: "text"
            }
        }

        /// The address that a code goes to.
        fileprivate var address: String? {
            switch self {
            case .email(let address), .text(let address): address
            case .device, .passkey, .qr: nil
            }
        }
    }

    /// Where each row posts to, but for the passkey's.
    package var action: String
    /// The rows in their order; the first is filled.
    package var ways: [Way]
    /// Whether one is signed in already and is asked again.
    package var isConfirmation: Bool
    /// What the row of the passkey needs; nil for no such row.
    package var passkey: PasskeyOffer?

    /// Creates the page.
    package init(action: String, ways: [Way], isConfirmation: Bool = false, passkey: PasskeyOffer? = nil) {
        self.action = action
        self.ways = ways
        self.isConfirmation = isConfirmation
        self.passkey = passkey
    }

    /// The values of the page.
    package func values(in frame: PageFrame) -> [String: Any] {
        let rows = ways.filter { $0 != .passkey || passkey != nil }.enumerated().map { index, way in
            Dictionary(present: [
                "way": way.value, "address": way.address, "isFirst": index == 0, "isDevice": way == .device,
                "isPasskey": way == .passkey, "isQR": way == .qr, "isEmail": way.value == "email",
                "isText": way.value == "text",
            ])
        }
        return Dictionary(present: [
            "action": action, "rows": rows, "isConfirmation": isConfirmation, "passkey": passkey?.values,
        ])
    }

    /// The template of the page.
    package static let template = PageTemplate(
        "choose",
        heading: """
            {{#isConfirmation}}[[confirmHeading]]{{/isConfirmation}}\
            {{^isConfirmation}}[[chooseHeading]]{{/isConfirmation}}
            """,
        scripts: [.passkey],
        main: """
            <form method="post" action="{{action}}">\(PageFrame.sealedRequest)
            <div class="ways">
            {{#rows}}
            {{#isPasskey}}{{#passkey}}
            <button class="way{{#isFirst}} filled{{/isFirst}} if-live" \(PasskeyOffer.using)>
            {{/passkey}}{{/isPasskey}}
            {{^isPasskey}}
            <button class="way{{#isFirst}} filled{{/isFirst}}" name="way" value="{{way}}">
            {{/isPasskey}}
            {{#isDevice}}
            \(row(Icons.phone, "deviceWay"))
            {{/isDevice}}
            {{#isPasskey}}
            \(row(Icons.key, "passkeyWay"))
            {{/isPasskey}}
            {{#isQR}}
            \(row(Icons.qr, "qrWay"))
            {{/isQR}}
            {{#isEmail}}
            \(row(Icons.letter, "emailWay"))
            {{/isEmail}}
            {{#isText}}
            \(row(Icons.bubble, "textWay"))
            {{/isText}}
            \(Icons.onward)</button>
            {{/rows}}
            </div>
            </form>
            """)

    private static func row(_ icon: String, _ word: String) -> String {
        "\(icon)<span><b>[[\(word)]]</b><small>[[\(word)Hint]]</small></span>"
    }
}
