import Countersign
import CountersignPrompts

#if canImport(UIKit)
    import CountersignApple
    import UIKit
#else
    package import UIKitStandIn
#endif

/// Where prompts and pages are shown: over a view controller, or over the one on the screen.
@MainActor
package enum Stage {
    /// A view controller, or the one on the screen; what is shown is shown over it.
    ///
    /// - Throws: `CountersignError.configurationInvalid` if it is not on the screen: UIKit would show nothing, and say so
    ///   to nobody.
    static func place(_ place: UIViewController?) throws(CountersignError) -> UIViewController {
        guard let place = place ?? root, isOnScreen(place) else {
            throw .configurationInvalid("there is no view controller on the screen to show it over")
        }
        return place
    }

    /// Shows the prompt of a model until it is off the screen.
    static func show(_ model: some PromptModel, over place: UIViewController, _ look: Look) async {
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        present(model, over: top(over: place), look) {
            end.yield()
            end.finish()
        }
        for await _ in ends { break }
    }

    /// The one that is presented last over another one, or that one itself.
    private static func top(over place: UIViewController) -> UIViewController {
        var top = place
        while let next = top.presentedViewController { top = next }
        return top
    }
}

#if canImport(UIKit)
    extension Stage {
        private static var root: UIViewController? {
            let scenes = UIApplication.shared.connectedScenes.compactMap { $0 as? UIWindowScene }
            return scenes.compactMap { $0.keyWindow?.rootViewController }.first
        }

        private static func isOnScreen(_ place: UIViewController) -> Bool { place.viewIfLoaded?.window != nil }

        private static func present(
            _ model: some PromptModel, over place: UIViewController, _ look: Look,
            closed: @escaping @MainActor () -> Void
        ) {
            place.present(model, theme: look.theme, closed: closed)
            // Over one that is just going away UIKit shows nothing, and calls nobody.
            if place.presentedViewController == nil { closed() }
        }

        /// What shows pages: the system's session over the window, unless the app has brought its own.
        static func browser(over place: UIViewController, _ settings: CotterSettings) -> (any BrowserSession)? {
            if let browser = settings.browser { return browser }
            guard let window = place.viewIfLoaded?.window else { return nil }
            return WebAuthenticationBrowser { window }
        }
    }
#else
    extension Stage {
        /// What stands for the view controller on the screen.
        package static var root: UIViewController?

        private static func isOnScreen(_ place: UIViewController) -> Bool { true }

        private static func present(
            _ model: some PromptModel, over place: UIViewController, _ look: Look,
            closed: @escaping @MainActor () -> Void
        ) {
            place.present(PromptController(model, look, closed: closed), animated: true)
        }

        /// What shows pages: what the app has brought.
        static func browser(over place: UIViewController, _ settings: CotterSettings) -> (any BrowserSession)? {
            settings.browser
        }
    }
#endif
