/// The page of the account that asks for an address or number to add.
package struct AddAddressPage: HostedPage {
    /// The field with what was typed.
    package static let field = "identifier"

    /// What can be added.
    package enum Takes: Hashable, Sendable {
        /// Email addresses and phone numbers.
        case emailAndPhone
        /// Email addresses.
        case email
        /// Phone numbers.
        case phone
    }

    /// What is wrong with what was typed.
    package enum Problem: Hashable, Sendable {
        /// It is nothing that can be added.
        case malformed
        /// The operator sends no codes there.
        case notSent
        /// It is verified for this account already.
        case yours
    }

    /// Where the form posts to.
    package var action: String
    /// What can be added.
    package var takes: Takes
    /// What was typed before.
    package var typed: String?
    /// What was wrong with it.
    package var problem: Problem?
    /// Whether the account page shows passkeys.
    package var showsPasskeys: Bool

    /// Creates the page.
    package init(
        action: String, takes: Takes, typed: String? = nil, problem: Problem? = nil, showsPasskeys: Bool = false
    ) {
        self.action = action
        self.takes = takes
        self.typed = typed
        self.problem = problem
        self.showsPasskeys = showsPasskeys
    }

    /// Whether something is wrong.
    package var hasError: Bool { problem != nil }

    /// The values of the page.
    package func values(in frame: PageFrame) -> [String: Any] {
        [
            "action": action, "typed": typed ?? "", "takesBoth": takes == .emailAndPhone, "takesEmail": takes == .email,
            "takesPhone": takes == .phone, "isMalformed": problem == .malformed, "isNotSent": problem == .notSent,
            "isYours": problem == .yours, "showsPasskeys": showsPasskeys,
        ]
    }

    /// The template of the page.
    package static let template = PageTemplate(
        "add-address", panel: .account(at: .addresses), heading: "[[addAddress]]",
        main: """
            <p>[[addAddressText]]</p>
            <form method="post" action="{{action}}" novalidate="novalidate">\(PageFrame.sealedRequest)
            <label for="identifier">\(forEach(both: "[[identifierLabel]]", "[[emailLabel]]", "[[phoneLabel]]"))</label>
            {{#hasError}}
            <p class="error" id="problem">\(Icons.sign)<span>{{#isMalformed}}\
            \(forEach(both: "[[identifierProblem]]", "[[emailProblem]]", "[[phoneProblem]]")){{/isMalformed}}\
            {{#isNotSent}}[[noCodesThere]]{{/isNotSent}}{{#isYours}}[[verifiedAlready]]{{/isYours}}</span></p>
            {{/hasError}}
            <input id="identifier" name="identifier" value="{{typed}}" \
            inputmode="\(forEach(both: "email", "email", "tel"))" \
            autocomplete="\(forEach(both: "username", "email", "tel"))" autocapitalize="none" spellcheck="false" \
            dir="ltr"\
            {{#hasError}} aria-invalid="true" aria-describedby="problem" autofocus="autofocus"{{/hasError}} />
            <p class="acts">
            <button class="filled">[[continueButton]]</button>
            <a class="outlined" href="/account">[[backToAccount]]</a>
            </p>
            </form>
            """)

    private static func forEach(both: String, _ email: String, _ phone: String) -> String {
        "{{#takesBoth}}\(both){{/takesBoth}}{{#takesEmail}}\(email){{/takesEmail}}"
            + "{{#takesPhone}}\(phone){{/takesPhone}}"
    }
}
