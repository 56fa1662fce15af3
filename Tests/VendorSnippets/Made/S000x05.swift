// swift-format-ignore-file
// Made by scripts/seed-snippets of Tests/VendorTests/Snippets/000/05.txt: do not edit.
import Cotter
import Foundation
import UIKitStandIn

/// The callback alone, as a screen's method.
package final class S000x05: UIViewController {
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

    package override init() { super.init() }

    /// The callback.
    package var finalAuthCallback: FinalAuthCallback { callback }
}
