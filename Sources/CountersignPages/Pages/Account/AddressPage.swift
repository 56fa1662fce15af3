/// The page of the account about one address or number that is verified, which removes it.
///
/// It posts to `remove`, below `/account/addresses/ID`.
package struct AddressPage: HostedPage {
    /// Whether the address can be removed.
    package enum Standing: Hashable, Sendable {
        /// It can.
        case removable
        /// It cannot, because there is no other.
        case only
        /// It can in this session from a time on, in seconds since 1970, because what takes its place is too new.
        case laterRemovable(from: Int)
    }

    /// The name in paths.
    package var id: String
    /// The address or number.
    package var address: String
    /// When it was verified, in seconds since 1970.
    package var verifiedAt: Int
    /// Whether it can be removed.
    package var standing: Standing
    /// Whether this session ends with it.
    package var endsThisSession: Bool
    /// Whether the account page shows passkeys.
    package var showsPasskeys: Bool

    /// Creates the page.
    package init(
        id: String, address: String, verifiedAt: Int, standing: Standing, endsThisSession: Bool = false,
        showsPasskeys: Bool = false
    ) {
        self.id = id
        self.address = address
        self.verifiedAt = verifiedAt
        self.standing = standing
        self.endsThisSession = endsThisSession
        self.showsPasskeys = showsPasskeys
    }

    /// The values of the page.
    package func values(in frame: PageFrame) -> [String: Any] {
        let from: Int? = if case .laterRemovable(let from) = standing { from } else { nil }
        let values: [String: Any?] = [
            "id": PageAddress.segment(id), "address": address, "day": frame.day(verifiedAt, as: .start),
            "isRemovable": standing == .removable, "isOnly": standing == .only,
            "from": from.map { frame.moment($0) }, "endsThisSession": endsThisSession, "showsPasskeys": showsPasskeys,
        ]
        return Dictionary(present: values.merging(AccountPage.Identifier.parts(of: address)) { $1 })
    }

    /// The template of the page.
    package static let template = PageTemplate(
        "address", panel: .account(at: .addresses),
        heading: """
            {{#isRemovable}}[[removeAddressHeading]]{{/isRemovable}}\
            {{^isRemovable}}[[addressStays]]{{/isRemovable}}
            """,
        main: """
            <dl class="facts">
            <div><dt>[[factVerified]]</dt><dd><b>{{day}}</b></dd></div>
            </dl>
            {{#isRemovable}}
            <p>[[removeAddressText]]{{#endsThisSession}} <strong>[[endsWithPasskey]]</strong>{{/endsThisSession}}</p>
            <form method="post" action="/account/addresses/{{id}}/remove">\(PageFrame.sealedRequest)
            <p class="acts">
            <button class="filled danger">[[removeAddress]]</button>
            <a class="outlined" href="/account">[[keepIt]]</a>
            </p>
            </form>
            {{/isRemovable}}
            {{#isOnly}}
            <p>[[onlyAddress]]</p>
            {{/isOnly}}
            {{#from}}
            <p>[[removableFrom]]</p>
            {{/from}}
            {{^isRemovable}}
            <p class="acts">
            {{#isOnly}}
            <a class="outlined" href="\(AccountPage.newAddressPath)">[[addAddress]]</a>
            {{/isOnly}}
            <a class="outlined" href="/account">[[backToAccount]]</a>
            </p>
            {{/isRemovable}}
            """)
}
