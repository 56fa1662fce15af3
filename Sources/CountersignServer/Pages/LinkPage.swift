import Hummingbird
import NIOCore

/// The pages that people see in a browser.
extension NativeAPI {
    func addPages(to routes: inout NativeRoutes) {
        routes.anyone(.get, "/q") { _ in
            Response(document: Self.linkPage, type: "text/html; charset=utf-8")
        }
        addDevelopmentOutbox(to: &routes)
    }

    /// The page of a link that no app has opened; the content of the link is behind `#` and never leaves the browser.
    ///
    /// Spec: docs/protocol/codes-and-links.md, *The code*.
    private static let linkPage = ByteBuffer(
        string: """
            <!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
            <title>Open in the app</title>
            <h1>This link opens in an app</h1>
            <p>It was to be opened by the app that you approve with, which is not on this device or does not take such
            links. Go back and start again where the app is, or choose to scan a code. Whoever was sent this link by somebody
            else can close this page: nothing has happened.</p>
            </html>
            """)
}
