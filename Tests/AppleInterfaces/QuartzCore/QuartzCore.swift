import Foundation

/// Page: quartzcore/calayer iOS 2.0 macOS 10.5
open class CALayer: NSObject {}
