import Countersign
import Foundation
import Testing

@Suite("Where a session for signing in notices that the browser comes back")
struct BrowserCallbackTests {
    private static let callbacks: [String: BrowserCallback?] = [
        "com.example.shop:/signed-in": .scheme("com.example.shop"), "COM.example.Shop:/": .scheme("com.example.shop"),
        "https://app.example.com/signed-in": .https(host: "app.example.com", path: "/signed-in"),
        "https://app.example.com:443/signed-in": .https(host: "app.example.com", path: "/signed-in"),
        "https://app.example.com": .https(host: "app.example.com", path: "/"),
        // Such a session knows no port, and notices nothing on this machine.
        "https://app.example.com:8443/signed-in": nil, "http://127.0.0.1:8080/": nil, "http://[::1]/": nil,
        "/signed-in": nil,
    ]

    @Test(
        "RFC 8252 §7.1 and §7.2: a scheme of the app's own, or an address of a host that names the app",
        arguments: callbacks.keys.sorted())
    func callback(_ text: String) throws {
        let url = try #require(URL(string: text))
        #expect(BrowserCallback(url) == Self.callbacks[text])
    }
}
