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
    let paths = ["/oauth2/authorize", "/signin", "/assets"]
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
        for asset in PageAssets.all {
            table.add(.get, asset.path) { _, _ in
                var response = Response(bytes: asset.bytes, type: asset.contentType)
                // The name changes with the content. Spec: RFC 8246 §2.
                response.headers[.cacheControl] = "public, max-age=31536000, immutable"
                response.headers[.xContentTypeOptions] = "nosniff"
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
            rendered(
                PageError(
                    .tooManyTries(until: Int(ports.time.now.adding(error.retryAfter).seconds)), why: nil, status: 429),
                context)
        default: nil
        }
    }

    func refusal(of failure: RequestFailure, _ context: ServerContext) -> RenderedRefusal {
        let error = OAuthError(failure, requestID: context.requestID)
        let problem: ErrorPage.Problem = error.code.status < 500 ? .notUnderstood : .broken
        var page = PageError(problem, why: error.description, status: error.status ?? error.code.status)
        page.retryAfter = error.retryAfter
        return rendered(page, context)
    }

    private func rendered(_ error: PageError, _ context: ServerContext) -> RenderedRefusal {
        let page = ErrorPage(problem: error.problem, requestID: context.requestID, why: error.why)
        let frame = PageFrame(
            language: error.language, issuerHost: ports.issuer.host, client: error.client,
            now: Int(ports.time.now.seconds))
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
    var language = PageLanguage.english

    init(_ problem: ErrorPage.Problem, why: String?, status: Int) {
        self.problem = problem
        self.why = why
        self.status = status
    }
}

/// A page with the fields that each page has.
struct PageResponse {
    let headers: HTTPFields
    let body: [UInt8]

    /// Renders a page.
    init(_ page: some HostedPage, in frame: PageFrame) {
        var headers: HTTPFields = [.contentType: "text/html; charset=utf-8"]
        headers[.contentSecurityPolicy] = page.contentSecurityPolicy
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
