import Foundation

#if canImport(UIKit)
    import UIKit
#elseif canImport(AppKit)
    import AppKit
#endif

/// Page: swiftui/vstack iOS 13.0 macOS 10.15
public struct VStack<Content: View>: View {
    public typealias Body = Never

    /// Page: swiftui/vstack/init(alignment:spacing:content:) iOS 13.0 macOS 10.15
    public init(
        alignment: HorizontalAlignment = usual(), spacing: CGFloat? = nil, @ViewBuilder content: () -> Content
    ) {}
}

/// Page: swiftui/hstack iOS 13.0 macOS 10.15
public struct HStack<Content: View>: View {
    public typealias Body = Never

    /// Page: swiftui/hstack/init(alignment:spacing:content:) iOS 13.0 macOS 10.15
    public init(
        alignment: VerticalAlignment = usual(), spacing: CGFloat? = nil, @ViewBuilder content: () -> Content
    ) {}
}

/// Page: swiftui/horizontalalignment iOS 13.0 macOS 10.15
public struct HorizontalAlignment: Sendable {
    /// Page: swiftui/horizontalalignment/leading iOS 13.0 macOS 10.15
    public static let leading = HorizontalAlignment()
}

/// Page: swiftui/verticalalignment iOS 13.0 macOS 10.15
public struct VerticalAlignment: Sendable {}

/// Page: swiftui/alignment iOS 13.0 macOS 10.15
public struct Alignment: Sendable {
    /// Page: swiftui/alignment/leading iOS 13.0 macOS 10.15
    public static let leading = Alignment()
}

/// Page: swiftui/axis iOS 13.0 macOS 10.15
public enum Axis: Sendable {
    /// Page: swiftui/axis/set iOS 13.0 macOS 10.15
    public struct Set: Sendable {}
}

/// Page: swiftui/scrollview iOS 13.0 macOS 10.15
public struct ScrollView<Content: View>: View {
    public typealias Body = Never

    /// Page: swiftui/scrollview/init(_:showsindicators:content:) iOS 13.0 macOS 10.15
    public init(_ axes: Axis.Set = usual(), showsIndicators: Bool = true, @ViewBuilder content: () -> Content) {}
}

/// Page: swiftui/foreach iOS 13.0 macOS 10.15
public struct ForEach<Data: RandomAccessCollection, ID: Hashable, Content: View>: View {
    public typealias Body = Never

    /// Page: swiftui/foreach/init(_:id:content:) iOS 13.0 macOS 10.15
    public init(
        _ data: Data, id: KeyPath<Data.Element, ID>, @ViewBuilder content: @escaping (Data.Element) -> Content
    ) {}
}

/// Page: swiftui/disclosuregroup iOS 14.0 macOS 11.0
public struct DisclosureGroup<Label: View, Content: View>: View {
    public typealias Body = Never

    /// Page: swiftui/disclosuregroup/init(content:label:) iOS 14.0 macOS 11.0
    public init(@ViewBuilder content: @escaping () -> Content, @ViewBuilder label: () -> Label) {}
}

#if canImport(UIKit)
    /// Page: swiftui/uihostingcontroller iOS 13.0
    open class UIHostingController<Content: View>: UIViewController {
        /// Page: swiftui/uihostingcontroller/init(rootview:) iOS 13.0
        public init(rootView: Content) {}
    }

    /// Page: swiftui/uiviewrepresentable iOS 13.0
    @MainActor
    public protocol UIViewRepresentable: View where Body == Never {
        /// Page: swiftui/uiviewrepresentable/uiviewtype iOS 13.0
        associatedtype UIViewType: UIView
        /// Page: swiftui/uiviewrepresentable/context iOS 13.0
        typealias Context = UIViewRepresentableContext<Self>

        /// Page: swiftui/uiviewrepresentable/makeuiview(context:) iOS 13.0
        func makeUIView(context: Context) -> UIViewType

        /// Page: swiftui/uiviewrepresentable/updateuiview(_:context:) iOS 13.0
        func updateUIView(_ uiView: UIViewType, context: Context)
    }

    /// Page: swiftui/uiviewrepresentablecontext iOS 13.0
    public struct UIViewRepresentableContext<Representable: UIViewRepresentable> {}
#elseif canImport(AppKit)
    /// Page: swiftui/nshostingcontroller macOS 10.15
    open class NSHostingController<Content: View>: NSViewController {
        /// Page: swiftui/nshostingcontroller/init(rootview:) macOS 10.15
        public init(rootView: Content) {}
    }

    /// Page: swiftui/nsviewrepresentable macOS 10.15
    @MainActor
    public protocol NSViewRepresentable: View where Body == Never {
        /// Page: swiftui/nsviewrepresentable/nsviewtype macOS 10.15
        associatedtype NSViewType: NSView
        /// Page: swiftui/nsviewrepresentable/context macOS 10.15
        typealias Context = NSViewRepresentableContext<Self>

        /// Page: swiftui/nsviewrepresentable/makensview(context:) macOS 10.15
        func makeNSView(context: Context) -> NSViewType

        /// Page: swiftui/nsviewrepresentable/updatensview(_:context:) macOS 10.15
        func updateNSView(_ nsView: NSViewType, context: Context)
    }

    /// Page: swiftui/nsviewrepresentablecontext macOS 10.15
    public struct NSViewRepresentableContext<View: NSViewRepresentable> {}
#endif
