#if canImport(SwiftUI) && canImport(UIKit)
    import SwiftUI
    import UIKit

    /// A bank's app, as a sample of everything that the SDK does in one.
    @main
    struct AcmeBankApp: App {
        @UIApplicationDelegateAdaptor(AppDelegate.self) private var delegate

        var body: some Scene {
            WindowGroup {
                RootView(model: delegate.model)
            }
        }
    }
#endif
