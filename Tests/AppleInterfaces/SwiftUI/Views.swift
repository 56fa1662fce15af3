import CoreGraphics
import Foundation

/// Page: swiftui/view iOS 13.0 macOS 10.15
@MainActor
public protocol View {
    /// Page: swiftui/view/body-swift.associatedtype iOS 13.0 macOS 10.15
    associatedtype Body: View

    /// Page: swiftui/view/body-8kl5o iOS 13.0 macOS 10.15
    @ViewBuilder var body: Body { get }
}

extension View where Body == Never {
    /// Page: swiftui/view/body-8kl5o iOS 13.0 macOS 10.15
    public var body: Never { usual() }
}

extension Never: View {
    public typealias Body = Never
}

/// Page: swiftui/viewbuilder iOS 13.0 macOS 10.15
@resultBuilder
public struct ViewBuilder {
    /// Page: swiftui/viewbuilder/buildblock(_:) iOS 13.0 macOS 10.15
    public static func buildBlock<Content: View>(_ content: Content) -> Content { content }

    /// Page: swiftui/viewbuilder/buildblock(_:...) iOS 13.0 macOS 10.15
    public static func buildBlock<each Content: View>(
        _ content: repeat each Content
    ) -> TupleView<(repeat each Content)> { usual() }

    /// Page: swiftui/viewbuilder/buildif(_:) iOS 13.0 macOS 10.15
    public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }

    /// Page: swiftui/viewbuilder/buildeither(first:) iOS 13.0 macOS 10.15
    public static func buildEither<TrueContent: View, FalseContent: View>(
        first: TrueContent
    ) -> _ConditionalContent<TrueContent, FalseContent> { usual() }

    /// Page: swiftui/viewbuilder/buildeither(second:) iOS 13.0 macOS 10.15
    public static func buildEither<TrueContent: View, FalseContent: View>(
        second: FalseContent
    ) -> _ConditionalContent<TrueContent, FalseContent> { usual() }
}

/// Page: swiftui/tupleview iOS 13.0 macOS 10.15
public struct TupleView<T>: View {
    public typealias Body = Never
}

/// Page: swiftui/_conditionalcontent iOS 13.0 macOS 10.15
public struct _ConditionalContent<TrueContent, FalseContent>: View {
    public typealias Body = Never
}

extension Optional: View where Wrapped: View {
    public typealias Body = Never
}

/// Page: swiftui/emptyview iOS 13.0 macOS 10.15
public struct EmptyView: View {
    public typealias Body = Never
}

/// Page: swiftui/anyview iOS 13.0 macOS 10.15
public struct AnyView: View {
    public typealias Body = Never

    /// Page: swiftui/anyview/init(_:) iOS 13.0 macOS 10.15
    public init<V: View>(_ view: V) {}
}

/// Page: swiftui/text iOS 13.0 macOS 10.15
public struct Text: Sendable {
    /// Page: swiftui/text/init(verbatim:) iOS 13.0 macOS 10.15
    public init(verbatim content: String) {}
}

/// Page: swiftui/image iOS 13.0 macOS 10.15
public struct Image: Sendable {
    /// Page: swiftui/image/orientation iOS 13.0 macOS 10.15
    public enum Orientation: Sendable {
        /// Page: swiftui/image/orientation/up iOS 13.0 macOS 10.15
        case up
    }

    /// Page: swiftui/image/interpolation iOS 13.0 macOS 10.15
    public enum Interpolation: Sendable {
        /// Page: swiftui/image/interpolation/none iOS 13.0 macOS 10.15
        case none
    }

    /// Page: swiftui/image/resizingmode iOS 13.0 macOS 10.15
    public struct ResizingMode: Sendable {}

    /// Page: swiftui/image/init(systemname:) iOS 13.0 macOS 11.0
    public init(systemName: String) {}

    /// Page: swiftui/image/init(_:scale:orientation:label:) iOS 13.0 macOS 10.15
    public init(_ cgImage: CGImage, scale: CGFloat, orientation: Orientation = .up, label: Text) {}

    /// Page: swiftui/image/interpolation(_:) iOS 13.0 macOS 10.15
    public func interpolation(_ interpolation: Interpolation) -> Image { self }

    /// Page: swiftui/image/resizable(capinsets:resizingmode:) iOS 13.0 macOS 10.15
    public func resizable(capInsets: EdgeInsets = usual(), resizingMode: ResizingMode = usual()) -> Image { self }
}

extension Text: View {
    public typealias Body = Never
}

extension Image: View {
    public typealias Body = Never
}

/// Page: swiftui/edgeinsets iOS 13.0 macOS 10.15
public struct EdgeInsets: Sendable {}

/// Page: swiftui/label iOS 14.0 macOS 11.0
public struct Label<Title: View, Icon: View>: View {
    public typealias Body = Never

    /// Page: swiftui/label/init(title:icon:) iOS 14.0 macOS 11.0
    public init(@ViewBuilder title: () -> Title, @ViewBuilder icon: () -> Icon) {}
}

/// Page: swiftui/button iOS 13.0 macOS 10.15
public struct Button<Label: View>: View {
    public typealias Body = Never

    /// Page: swiftui/button/init(action:label:) iOS 13.0 macOS 10.15
    public init(action: @escaping @MainActor () -> Void, @ViewBuilder label: () -> Label) {}
}

/// Page: swiftui/textfield iOS 13.0 macOS 10.15
public struct TextField<Label: View>: View {
    public typealias Body = Never

    /// Page: swiftui/textfield/init(text:prompt:label:) iOS 15.0 macOS 12.0
    public init(text: Binding<String>, prompt: Text? = nil, @ViewBuilder label: () -> Label) {}
}

/// Page: swiftui/securefield iOS 13.0 macOS 10.15
public struct SecureField<Label: View>: View {
    public typealias Body = Never

    /// Page: swiftui/securefield/init(text:prompt:label:) iOS 15.0 macOS 12.0
    public init(text: Binding<String>, prompt: Text? = nil, @ViewBuilder label: () -> Label) {}
}

/// Page: swiftui/progressview iOS 14.0 macOS 11.0
public struct ProgressView<Label: View, CurrentValueLabel: View>: View {
    public typealias Body = Never

    /// Page: swiftui/progressview/init() iOS 14.0 macOS 11.0
    public init() where Label == EmptyView, CurrentValueLabel == EmptyView {}
}

/// Page: swiftui/divider iOS 13.0 macOS 10.15
public struct Divider: View {
    public typealias Body = Never

    /// Page: swiftui/divider/init() iOS 13.0 macOS 10.15
    public init() {}
}
