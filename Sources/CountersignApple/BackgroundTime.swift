#if canImport(UserNotifications)
    import Dispatch
    import Foundation

    #if canImport(UIKit)
        import UIKit
    #endif

    /// Time for an act that goes on once the person has left the app, such as an answer that is on its way.
    ///
    /// Without it an iPhone stops the app within seconds. With it an answer has as long as the system gives; after that the
    /// SDK sends it when the app runs again.
    public final class BackgroundTime: Sendable {
        private let isOver = DispatchSemaphore(value: 0)

        /// Asks the system for the time.
        ///
        /// - Parameter reason: what for, as a debugger shows it.
        public init(for reason: String) {
            #if canImport(UIKit)
                // An extension may ask in this way, too. The system holds the time for as long as this waits, and calls it once
                // more when the time is up.
                ProcessInfo.processInfo.performExpiringActivity(withReason: reason) { [isOver] isExpiring in
                    if isExpiring { isOver.signal() } else { isOver.wait() }
                }
            #endif
        }

        /// Gives back what is left of it.
        public func end() { isOver.signal() }
    }
#endif
