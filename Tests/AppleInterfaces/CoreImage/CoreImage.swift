import CoreGraphics
import Foundation

/// Page: coreimage/ciimage iOS 5.0 macOS 10.4
open class CIImage: NSObject {
    /// Page: coreimage/ciimage/extent iOS 5.0 macOS 10.4
    open var extent: CGRect { .zero }
}

/// Page: coreimage/cifilter-swift.class iOS 5.0 macOS 10.4
open class CIFilter: NSObject {
    /// Page: coreimage/cifilter-swift.class/init(name:parameters:) iOS 8.0 macOS 10.10
    public init?(name: String, parameters params: [String: Any]?) {}

    /// Page: coreimage/cifilter-swift.class/outputimage iOS 5.0 macOS 10.10
    open var outputImage: CIImage? { nil }
}

/// Page: coreimage/cicontext iOS 5.0 macOS 10.4
open class CIContext: NSObject {
    /// Page: coreimage/cicontext/createcgimage(_:from:) iOS 5.0 macOS 10.4
    open func createCGImage(_ image: CIImage, from fromRect: CGRect) -> CGImage? { nil }
}
