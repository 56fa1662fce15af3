import CountersignCore
import CountersignPages
import CountersignWire
import Encodings
import HTTPTypes
import Hummingbird

/// The pages on which a person signs in, and the authorization endpoint that leads to them.
///
/// Spec: docs/decisions/0072-signing-in.md.
final class SignInDoor: Door {
    let paths = [
        "/oauth2/authorize", SignInDoor.logoutPath, "/signin", AccountPage.path, DeviceCodePage.path, "/assets",
        CotterPageRequest.path,
    ]
    let resources: DoorResources
    let cookies: BrowserCookies

    var ports: Ports { resources.ports }

    init(_ resources: DoorResources) {
        self.resources = resources
        cookies = BrowserCookies(resources.ports.issuer)
    }

    func addRoutes(to table: inout RouteTable) {
        addAuthorize(to: &table)
        addSignIn(to: &table)
        addLogout(to: &table)
        addAccount(to: &table)
        addDevice(to: &table)
        addLooks(to: &table)
        addCotterPage(to: &table)
        for asset in PageAssets.all {
            table.add(.get, asset.path) { _, _ in
                var response = Self.asset(asset.bytes, type: asset.contentType)
                // It counts for a worker alone, which needs nothing.
                response.headers[.contentSecurityPolicy] = "default-src 'none'"
                return response
            }
        }
    }

    func refusal(of error: any Error, _ context: ServerContext) -> RenderedRefusal? {
        switch error {
        case let error as PageError: rendered(error, context)
        case let error as FormFields.Malformed:
            rendered(PageError(.notUnderstood, why: error.description, status: 400), context)
        case let error as Waits.TooMany:
            rendered(.tooMany(retryAfter: error.retryAfter, at: ports.time.now), context)
        default: nil
        }
    }

    func refusal(of failure: RequestFailure, _ context: ServerContext) -> RenderedRefusal {
        let error = OAuthError(failure, requestID: context.requestID)
        if case .overloaded = failure { return Self.overloaded }
        let problem: ErrorPage.Problem = error.code.status < 500 ? .notUnderstood : .broken
        var page = PageError(problem, why: error.description, status: error.status ?? error.code.status)
        page.retryAfter = error.retryAfter
        return rendered(page, context)
    }

    /// It is made once: under overload there is no time to render pages.
    private static let overloaded = RenderedRefusal(
        status: 503,
        headers: [
            .contentType: "text/html; charset=utf-8", .retryAfter: "1", .xContentTypeOptions: "nosniff",
            .contentSecurityPolicy: "default-src 'none'",
        ],
        body: Array(
            """
            <!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Too many visitors</title>
            <h1>Too many visitors</h1><p>Reload this page in a few seconds.</p></html>
            """.utf8), code: "page_error", detail: nil)

    /// What every page shows, for whichever client.
    func frame(in language: PageLanguage, of client: PageFrame.Client? = nil) -> PageFrame {
        PageFrame(
            language: language, issuerHost: ports.issuer.host, client: client, helpURL: resources.links.help,
            privacyURL: resources.links.privacy, now: Int(ports.time.now.seconds))
    }

    private func rendered(_ error: PageError, _ context: ServerContext) -> RenderedRefusal {
        let page = ErrorPage(
            problem: error.problem, requestID: context.requestID, why: error.why, clientURL: error.site)
        let language = error.language ?? .chosen(locales: nil, accepted: context.languages)
        let frame = frame(in: language, of: error.client)
        let response = PageResponse(page, in: frame)
        var headers = response.headers
        if let seconds = error.retryAfter { headers[.retryAfter] = "\(seconds)" }
        return RenderedRefusal(
            status: error.status, headers: headers, body: response.body, code: "page_error",
            detail: error.why)
    }
}

/// A page instead of what was asked for.
struct PageError: Error {
    let problem: ErrorPage.Problem
    /// Why, in the words of the protocol; nil where the page says all.
    let why: String?
    let status: Int
    /// After how many seconds to try again; nil for no such advice.
    var retryAfter: Int64?
    var client: PageFrame.Client?
    /// Where the client is, for whoever can go on nowhere else; nil for no web site.
    var site: String?
    /// The language; nil for the one that the browser asks for.
    var language: PageLanguage?

    init(_ problem: ErrorPage.Problem, why: String?, status: Int, retryAfter: Int64? = nil) {
        self.retryAfter = retryAfter
        self.problem = problem
        self.why = why
        self.status = status
    }

    /// The client is unknown or disabled, or uses the provider no more.
    static let unknownClient = PageError(.unknownClient, why: "client_id", status: 400)
    /// There is no such sign-in in this browser, or no more.
    static let gone = PageError(.tooOld, why: nil, status: 404)

    /// A form that is no page of ours for this browser, or no more.
    static let tooOld = PageError(.tooOld, why: nil, status: 400)
    /// A link that signs in another browser alone.
    static let otherBrowser = PageError(.otherBrowser, why: nil, status: 409)

    /// The same in a language.
    func said(in language: PageLanguage) -> PageError {
        var error = self
        error.language = language
        return error
    }

    /// Too many tries.
    static func tooMany(retryAfter seconds: Seconds, at now: Timestamp) -> PageError {
        PageError(
            .tooManyTries(until: Int(now.adding(seconds).seconds)), why: nil, status: 429, retryAfter: seconds.value)
    }
}

/// A page with the fields that each page has.
struct PageResponse {
    let headers: HTTPFields
    let body: [UInt8]

    /// Renders a page.
    ///
    /// - Parameters:
    ///   - page: the page.
    ///   - frame: what every page shares.
    ///   - uri: where its forms may lead to in the end. Browsers hold every redirect after a form against
    ///     `form-action`, and to an app only a redirect leads.
    init(_ page: some HostedPage, in frame: PageFrame, leadingTo uri: RedirectURI? = nil) {
        var headers: HTTPFields = [.contentType: "text/html; charset=utf-8"]
        var policy = page.contentSecurityPolicy
        if let uri, uri.kind.isScheme {
            policy = policy.replacing("form-action 'self'", with: "form-action 'self' \(uri.place):")
        }
        headers[.contentSecurityPolicy] = policy
        headers[.xContentTypeOptions] = "nosniff"
        headers[.frameOptions] = "DENY"
        // A page's address may hold what a client sent.
        headers[.referrerPolicy] = "no-referrer"
        self.headers = headers
        body = Array(page.html(in: frame).utf8)
    }

    /// The page as the reply to a request.
    func response(status: Int = 200) -> Response {
        var response = Response(bytes: body, type: "", status: status)
        for field in headers { response.headers[field.name] = field.value }
        return response
    }
}
