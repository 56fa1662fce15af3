/// A page that people see: its own values, to be rendered in a frame.
package protocol HostedPage: Sendable {
    /// The page's template, parsed once.
    static var template: PageTemplate { get }
    /// The words above the client's name.
    var label: PageFrame.Label { get }
    /// Whether the title begins with "Error: ".
    var hasError: Bool { get }
    /// What the page shows besides its frame, by the names in its template.
    func values(in frame: PageFrame) -> [String: Any]
    /// The content security policy to send with the page.
    var contentSecurityPolicy: String { get }
}

extension HostedPage {
    package var label: PageFrame.Label { .signIn }
    package var hasError: Bool { false }
    package var contentSecurityPolicy: String { PageAssets.contentSecurityPolicy }

    /// The page as HTML in UTF-8.
    package func html(in frame: PageFrame) -> String {
        let values = frame.values(label: label, hasError: hasError).merging(values(in: frame)) { $1 }
        return Self.template.render(values, in: frame.language)
    }
}

extension [String: Any] {
    /// The values without those that are nil, which Mustache would take for present.
    init(present values: [String: Any?]) { self = values.compactMapValues(\.self) }
}
