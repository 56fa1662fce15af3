// swift-format-ignore-file
// Made by scripts/seed-snippets of Tests/VendorTests/Snippets/002/03.txt: do not edit.
import Foundation

/// A screen that opens the page.
package final class S002x03: ASWebAuthenticationPresentationContextProviding {
    package var authSession: ASWebAuthenticationSession?

    package init() {}

    package func open() {
// Using ASWebAuthenticationSession
// https://developer.apple.com/documentation/authenticationservices/authenticating_a_user_through_a_web_service

guard let authURL = URL(string: "https://js.cotter.app/app?api_key=<api_key_id>&redirect_url=yourapp://&type=PHONE&code_challenge=<code_challenge>&state=<state>") else { return }
let scheme = "yourapp://"


self.authSession = ASWebAuthenticationSession(url: authURL, callbackURLScheme: scheme)
{ callbackURL, error in
    // Handle the callback.
}
if #available(iOS 13.0, *) {
    self.authSession?.presentationContextProvider = self
} else {
    // Fallback on earlier versions
}
self.authSession?.start()
    }
}
