import Foundation

#if canImport(UIKit)
    import UIKit
#endif

/// Page: swiftui/app iOS 14.0 macOS 11.0
@MainActor
public protocol App {
    /// Page: swiftui/app/body-swift.associatedtype iOS 14.0 macOS 11.0
    associatedtype Body: Scene

    /// Page: swiftui/app/body-swift.property iOS 14.0 macOS 11.0
    @SceneBuilder var body: Body { get }
}

extension App {
    /// Page: swiftui/app/main() iOS 14.0 macOS 11.0
    public static func main() {}
}

/// Page: swiftui/scene iOS 14.0 macOS 11.0
@MainActor
public protocol Scene {}

/// Page: swiftui/scenebuilder iOS 14.0 macOS 11.0
@resultBuilder
public struct SceneBuilder {
    /// Page: swiftui/scenebuilder/buildblock(_:) iOS 14.0 macOS 11.0
    public static func buildBlock<Content: Scene>(_ content: Content) -> Content { content }
}

/// Page: swiftui/windowgroup iOS 14.0 macOS 11.0
public struct WindowGroup<Content: View>: Scene {
    /// Page: swiftui/windowgroup/init(content:) iOS 14.0 macOS 11.0
    public init(@ViewBuilder content: () -> Content) {}
}

#if canImport(UIKit)
    /// Page: swiftui/uiapplicationdelegateadaptor iOS 14.0
    @MainActor
    @propertyWrapper
    public struct UIApplicationDelegateAdaptor<DelegateType: NSObject & UIApplicationDelegate> {
        /// Page: swiftui/uiapplicationdelegateadaptor/init(_:)-3de5g iOS 14.0
        public init(_ delegateType: DelegateType.Type = DelegateType.self) {}

        /// Page: swiftui/uiapplicationdelegateadaptor/wrappedvalue iOS 14.0
        public var wrappedValue: DelegateType { usual() }
    }
#endif
