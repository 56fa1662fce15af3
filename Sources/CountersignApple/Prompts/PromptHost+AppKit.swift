#if canImport(SwiftUI) && canImport(AppKit) && !canImport(UIKit)
    public import AppKit
    public import CountersignPrompts
    import SwiftUI

    extension NSViewController {
        /// Shows the prompt of a model as a sheet over this view controller, until it is closed.
        ///
        /// - Parameters:
        ///   - model: the model; its state says what came of it.
        ///   - theme: how the prompt looks, and what it says.
        ///   - closed: is called once the prompt has been closed.
        public func present(
            _ model: some PromptModel, theme: PromptTheme = PromptTheme(), closed: @escaping @MainActor () -> Void = {}
        ) {
            let sheet = Sheet()
            let view = PromptView(model, theme: theme) { [weak self] in
                if let host = sheet.host { self?.dismiss(host) }
                closed()
            }
            let host = NSHostingController(rootView: view)
            sheet.host = host
            presentAsSheet(host)
        }
    }

    /// The view controller of a prompt, as the prompt's own view knows it.
    @MainActor
    private final class Sheet {
        weak var host: NSViewController?
    }
#endif
