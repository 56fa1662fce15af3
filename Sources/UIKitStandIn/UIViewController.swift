#if !canImport(UIKit)
    /// A view controller that shows nothing, and knows what is presented over it.
    @MainActor
    open class UIViewController {
        /// What is presented over it; nil for nothing.
        public private(set) var presentedViewController: UIViewController?
        /// Over what it is presented; nil where it is not presented.
        public private(set) weak var presentingViewController: UIViewController?

        /// A view controller.
        public init() {}

        /// Is called once the view is there.
        open func viewDidLoad() {}

        /// Is called once it is on the screen.
        open func viewDidAppear(_ animated: Bool) {}

        /// Is called once it is off the screen.
        open func viewDidDisappear(_ animated: Bool) {}

        /// Presents another one; does nothing while one is presented already, as UIKit.
        open func present(
            _ viewControllerToPresent: UIViewController, animated flag: Bool, completion: (() -> Void)? = nil
        ) {
            guard presentedViewController == nil else { return }
            presentedViewController = viewControllerToPresent
            viewControllerToPresent.presentingViewController = self
            viewControllerToPresent.viewDidAppear(flag)
            completion?()
        }

        /// Takes what is presented over it off the screen; without any, itself.
        open func dismiss(animated flag: Bool, completion: (() -> Void)? = nil) {
            guard let presented = presentedViewController else {
                presentingViewController?.dismiss(animated: flag, completion: completion)
                return
            }
            if presented.presentedViewController != nil { presented.dismiss(animated: flag) }
            presentedViewController = nil
            presented.presentingViewController = nil
            presented.viewDidDisappear(flag)
            completion?()
        }
    }
#endif
