// swift-format-ignore-file
// Made by scripts/seed-snippets of Tests/VendorTests/Snippets/000/04.txt: do not edit.
import Cotter
import Foundation
import UIKitStandIn

/// The screen on the trusted device.
package enum S000x04 {
class SomeUIVC: UIViewController {
  var cotter: Cotter?

  override func viewDidLoad() {
    super.viewDidLoad()

    self.cotter = Cotter(
      apiSecretKey: "588d6f67-0981-4718-899b-bcd512de1aca",
      apiKeyID: "w4FK6Zz0XIhtGY3o5biI",
      cotterURL: "https://www.cotter.app/api/v0",
      userID: "hello@example.com",
      configuration: [:]
    )
  }

  // On Button Click
  func checkForPendingEvent(_ sender: UIButton) {

    /* Checks for pending event associated with the userID. If an event exists, 
        a prompt in the trusted device would pop up. If not, nothing happens. 
        As such, you don't need to pass in a callback function in this case. */
    self.cotter?.getEventTrustedDevice(vc: self, cb: nil)
  }
}

    /// The screen, which has made its `Cotter`.
    @MainActor
    package static func screen() -> UIViewController {
        let screen = SomeUIVC()
        screen.viewDidLoad()
        return screen
    }

    /// Taps its button.
    @MainActor
    package static func tap(_ screen: UIViewController) { (screen as? SomeUIVC)?.checkForPendingEvent(UIButton()) }
}
