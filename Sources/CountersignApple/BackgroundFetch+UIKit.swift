#if canImport(UIKit)
    public import Countersign
    public import UIKit

    extension BackgroundFetch {
        /// The result for the handler of a push that wakes the app in the background.
        public var result: UIBackgroundFetchResult {
            switch self {
            case .pending: .newData
            case .nothing: .noData
            case .failed: .failed
            }
        }
    }
#endif
