/// The page of an error, which helps.
package struct ErrorPage: HostedPage {
    /// What happened.
    package enum Problem: Hashable, Sendable {
        /// The return address is not registered, so that one cannot be sent back.
        case unknownReturnAddress
        /// The client is not registered.
        case unknownClient
        /// The request is one that we do not support, from a client that cannot be told.
        case notUnderstood
        /// The page was open for too long.
        case tooOld
        /// The link of a mail was opened in another browser than the one that asked, which alone it signs in.
        case otherBrowser
        /// Too many tries; when to try again, in seconds since 1970.
        case tooManyTries(until: Int)
        /// An error of our own.
        case broken
    }

    /// What happened.
    package var problem: Problem
    /// The id by which the operator finds the request.
    package var requestID: String
    /// Why, in the words of the protocol, with nothing internal; nil for no such line.
    package var why: String?
    /// The client's address, where "Back to …" leads; nil for no such button.
    package let clientURL: String?

    /// Creates the page, whose time is the frame's; an address that is none of http or https has no button.
    package init(problem: Problem, requestID: String, why: String? = nil, clientURL: String? = nil) {
        self.problem = problem
        self.requestID = requestID
        self.why = why
        self.clientURL = clientURL.flatMap { PageAddress.isOfTheWeb($0) ? $0 : nil }
    }

    /// Always true.
    package var hasError: Bool { true }

    /// The values of the page.
    package func values(in frame: PageFrame) -> [String: Any] {
        var values: [String: Any?] = [
            "requestID": requestID, "atUTC": PageTime.inUTC(frame.now), "why": why, "isAboutSite": isAboutSite,
            problemName: true, "clientURL": frame.client == nil ? nil : clientURL,
        ]
        if case .tooManyTries(let time) = problem { values["until"] = frame.timeOfDay(time) }
        return Dictionary(present: values)
    }

    /// Whether the site can do something about it, so that its support is of use.
    private var isAboutSite: Bool {
        switch problem {
        case .unknownReturnAddress, .unknownClient, .notUnderstood: true
        case .tooOld, .otherBrowser, .tooManyTries, .broken: false
        }
    }

    private var problemName: String {
        switch problem {
        case .unknownReturnAddress: "noReturn"
        case .unknownClient: "noClient"
        case .notUnderstood: "notUnderstood"
        case .tooOld: "tooOld"
        case .otherBrowser: "otherBrowser"
        case .tooManyTries: "tooMany"
        case .broken: "broken"
        }
    }

    private static let names = ["noReturn", "noClient", "notUnderstood", "tooOld", "otherBrowser", "tooMany", "broken"]

    private static func texts(_ part: String) -> String {
        names.map { name in
            let word = "[[\(name)\(part)]]"
            let text =
                name + part == "tooOldText"
                ? "{{#hasClient}}\(word){{/hasClient}}{{^hasClient}}[[tooOldTextNobody]]{{/hasClient}}" : word
            return "{{#\(name)}}\(text){{/\(name)}}"
        }
        .joined()
    }

    /// The template of the page.
    package static let template = PageTemplate(
        "error", heading: texts("Heading"), takesFocus: true,
        main: """
            <p>\(texts("Text"))</p>
            {{#isAboutSite}}
            <h2>[[whatYouCanDo]]</h2>
            <ul><li>[[goBack]]</li><li>[[sendLines]]</li></ul>
            {{/isAboutSite}}
            {{#clientURL}}
            <p class="acts"><a class="filled" href="{{clientURL}}">[[backToClient]]</a></p>
            {{/clientURL}}
            <dl>
            <div><dt>[[factRequest]]</dt><dd><bdi dir="ltr">{{requestID}}</bdi></dd></div>
            <div><dt>[[factAtUTC]]</dt><dd><time datetime="{{atUTC}}">{{atUTC}}</time></dd></div>
            {{#why}}
            <div><dt>[[factWhy]]</dt><dd><bdi dir="ltr">{{why}}</bdi></dd></div>
            {{/why}}
            </dl>
            """)
}
