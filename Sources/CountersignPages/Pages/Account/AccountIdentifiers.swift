extension AccountPage {
    /// An email address or phone number.
    package struct Identifier: Hashable, Sendable {
        /// How we know it.
        package enum Standing: Hashable, Sendable {
            /// A code of ours reached it at a time in seconds since 1970.
            case verified(at: Int)
            /// A client says so; its name is nil where it is no longer known.
            case claimed(by: String?)
        }

        /// The address, or the number with its middle hidden.
        package var text: String
        /// How we know it.
        package var standing: Standing
        /// Where "Remove" leads, or "Verify" where it is only claimed; nil for no such link.
        package var path: String?

        /// Creates an identifier.
        package init(text: String, standing: Standing, path: String? = nil) {
            self.text = text
            self.standing = standing
            self.path = path
        }
    }
}

extension AccountPage.Identifier {
    /// The parts between which a line may break; a number has one.
    static func parts(of address: String) -> [String: Any?] {
        let domain = address.lastIndex(of: "@").map(address.index(after:)) ?? address.endIndex
        return ["mailbox": String(address[..<domain]), "domain": String(address[domain...])]
    }

    func values(in frame: PageFrame) -> [String: Any] {
        var values = Self.parts(of: text)
        values["address"] = text
        values["path"] = path
        values["isVerified"] = false
        switch standing {
        case .verified(let time):
            values["isVerified"] = true
            values["day"] = frame.day(time)
        case .claimed(let client): values["client"] = client
        }
        return Dictionary(present: values)
    }

    /// The rows of the identifiers.
    static let section = """
        <h2 id="addresses">[[accountAddresses]]</h2>
        {{#hasIdentifiers}}
        <ul class="rows">
        {{#identifiers}}
        <li><div>
        <b><bdi dir="ltr">{{mailbox}}<wbr />{{domain}}</bdi></b>
        <span class="small">{{#.day}}[[verifiedOn]]{{/.day}}{{^.day}}{{#.client}}[[claimedBy]]{{/.client}}\
        {{^.client}}[[notVerified]]{{/.client}}{{/.day}}</span>
        </div>
        {{#.path}}
        {{#isVerified}}
        <a class="link" href="{{path}}" aria-label="[[removeAddress|plain]]">[[remove]]</a>
        {{/isVerified}}
        {{^isVerified}}
        <a class="link" href="{{path}}" aria-label="[[verifyAddress|plain]]">[[verify]]</a>
        {{/isVerified}}
        {{/.path}}
        </li>
        {{/identifiers}}
        </ul>
        {{/hasIdentifiers}}
        {{^hasIdentifiers}}
        <p class="soft">[[noneYet]]</p>
        {{/hasIdentifiers}}
        {{#addPath}}
        <p class="acts"><a class="outlined" href="{{addPath}}">[[addAddress]]</a></p>
        {{/addPath}}
        """
}
