// swift-format-ignore-file
// Made by scripts/seed-snippets of Tests/VendorTests/Snippets/000/01.txt: do not edit.
import Cotter
import Foundation
import UIKitStandIn

/// The screen on a device that is not trusted.
package enum S000x01 {
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
    );
  }

  // On Button Click
  func login(_ sender: UIButton) {
    func callback(token: String, err: Error?) {
      if err != nil {
        // Failed login. Go to Error Page View Controller
        print(err?.localizedDescription)
        self.performSegue(withIdentifier: "segueToErrorView", sender: self)
        return
      }
      // Successful login. Go to Dashboard View Controller
      self.performSegue(withIdentifier: "segueToDashboard", sender: self)
    }

    /* Login using Cotter's Trusted Device Feature. */
    self.cotter?.loginWithTrustedDevice(vc: self, cb: callback)
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
    package static func tap(_ screen: UIViewController) { (screen as? SomeUIVC)?.login(UIButton()) }
}
