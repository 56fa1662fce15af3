#if canImport(SwiftUI) && canImport(UIKit)
    public import CountersignPrompts
    import SwiftUI
    public import UIKit

    extension UIViewController {
        /// Shows the prompt of a model over this view controller, until it is closed.
        ///
        /// - Parameters:
        ///   - model: the model; its state says what came of it.
        ///   - theme: how the prompt looks, and what it says.
        ///   - closed: is called once the prompt is off the screen, whoever has closed it.
        public func present(
            _ model: some PromptModel, theme: PromptTheme = PromptTheme(), closed: @escaping @MainActor () -> Void = {}
        ) {
            let view = PromptView(model, theme: theme) { [weak self] in
                if let self, presentedViewController != nil { dismiss(animated: true) }
            }
            let host = PromptHost(rootView: view)
            host.closed = closed
            present(host, animated: true)
        }
    }

    /// A prompt in a view controller.
    private final class PromptHost<Content: View>: UIHostingController<Content> {
        var closed: @MainActor () -> Void = {}

        override func viewDidDisappear(_ animated: Bool) {
            super.viewDidDisappear(animated)
            // It also goes with what it is presented over; what is shown over it leaves it where it is.
            if isBeingDismissed || presentingViewController == nil { closed() }
        }
    }
#endif
