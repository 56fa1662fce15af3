import Foundation

#if canImport(UIKit)
    import UIKit
#endif

/// Page: swiftui/shapestyle iOS 13.0 macOS 10.15
public protocol ShapeStyle: Sendable {}

extension ShapeStyle where Self == HierarchicalShapeStyle {
    /// Page: swiftui/shapestyle/secondary iOS 15.0 macOS 12.0
    public static var secondary: HierarchicalShapeStyle { usual() }
}

/// Page: swiftui/hierarchicalshapestyle iOS 15.0 macOS 12.0
public struct HierarchicalShapeStyle: ShapeStyle {}

/// Page: swiftui/color iOS 13.0 macOS 10.15
public struct Color: ShapeStyle {
    /// Page: swiftui/color/accentcolor iOS 13.0 macOS 11.0
    public static var accentColor: Color { Color() }
    /// Page: swiftui/color/white iOS 13.0 macOS 10.15
    public static let white = Color()
    /// Page: swiftui/color/red iOS 13.0 macOS 10.15
    public static let red = Color()
}

#if canImport(UIKit)
    extension Color {
        /// Page: swiftui/color/init(uicolor:) iOS 15.0
        public init(uiColor: UIColor) {}
    }
#endif

extension Color: View {
    public typealias Body = Never
}

/// Page: swiftui/font iOS 13.0 macOS 10.15
public struct Font: Sendable {
    /// Page: swiftui/font/title iOS 13.0 macOS 10.15
    public static let title = Font()
    /// Page: swiftui/font/largetitle iOS 13.0 macOS 10.15
    public static let largeTitle = Font()
    /// Page: swiftui/font/headline iOS 13.0 macOS 10.15
    public static let headline = Font()
    /// Page: swiftui/font/subheadline iOS 13.0 macOS 10.15
    public static let subheadline = Font()
    /// Page: swiftui/font/body iOS 13.0 macOS 10.15
    public static let body = Font()
    /// Page: swiftui/font/footnote iOS 13.0 macOS 10.15
    public static let footnote = Font()

    /// Page: swiftui/font/weight iOS 13.0 macOS 10.15
    public struct Weight: Sendable {
        /// Page: swiftui/font/weight/semibold iOS 13.0 macOS 10.15
        public static let semibold = Weight()
    }

    /// Page: swiftui/font/bold() iOS 13.0 macOS 10.15
    public func bold() -> Font { self }

    /// Page: swiftui/font/weight(_:) iOS 13.0 macOS 10.15
    public func weight(_ weight: Weight) -> Font { self }

    /// Page: swiftui/font/monospaced() iOS 15.0 macOS 12.0
    public func monospaced() -> Font { self }
}

/// Page: swiftui/controlsize iOS 15.0 macOS 10.15
public enum ControlSize: Sendable {
    /// Page: swiftui/controlsize/large iOS 15.0 macOS 11.0
    case large
}

/// Page: swiftui/primitivebuttonstyle iOS 13.0 macOS 10.15
@MainActor
public protocol PrimitiveButtonStyle {}

/// Page: swiftui/borderedbuttonstyle iOS 15.0 macOS 10.15
public struct BorderedButtonStyle: PrimitiveButtonStyle {}

/// Page: swiftui/borderedprominentbuttonstyle iOS 15.0 macOS 12.0
public struct BorderedProminentButtonStyle: PrimitiveButtonStyle {}

extension PrimitiveButtonStyle where Self == BorderedButtonStyle {
    /// Page: swiftui/primitivebuttonstyle/bordered iOS 15.0 macOS 10.15
    public static var bordered: BorderedButtonStyle { usual() }
}

extension PrimitiveButtonStyle where Self == BorderedProminentButtonStyle {
    /// Page: swiftui/primitivebuttonstyle/borderedprominent iOS 15.0 macOS 12.0
    public static var borderedProminent: BorderedProminentButtonStyle { usual() }
}

/// Page: swiftui/textfieldstyle iOS 13.0 macOS 10.15
public protocol TextFieldStyle {}

/// Page: swiftui/roundedbordertextfieldstyle iOS 13.0 macOS 10.15
public struct RoundedBorderTextFieldStyle: TextFieldStyle {}

extension TextFieldStyle where Self == RoundedBorderTextFieldStyle {
    /// Page: swiftui/textfieldstyle/roundedborder iOS 13.0 macOS 10.15
    public static var roundedBorder: RoundedBorderTextFieldStyle { usual() }
}

/// Page: swiftui/submittriggers iOS 15.0 macOS 12.0
public struct SubmitTriggers: Sendable {}

/// Page: swiftui/scrolldismisseskeyboardmode iOS 16.0 macOS 13.0
public struct ScrollDismissesKeyboardMode: Sendable {
    /// Page: swiftui/scrolldismisseskeyboardmode/interactively iOS 16.0 macOS 13.0
    public static var interactively: ScrollDismissesKeyboardMode { usual() }
}

/// Page: swiftui/accessibilitytraits iOS 13.0 macOS 10.15
public struct AccessibilityTraits: Sendable {
    /// Page: swiftui/accessibilitytraits/isheader iOS 13.0 macOS 10.15
    public static let isHeader = AccessibilityTraits()
    /// Page: swiftui/accessibilitytraits/updatesfrequently iOS 13.0 macOS 10.15
    public static let updatesFrequently = AccessibilityTraits()
}

/// Page: swiftui/accessibilitychildbehavior iOS 13.0 macOS 10.15
public struct AccessibilityChildBehavior: Sendable {
    /// Page: swiftui/accessibilitychildbehavior/combine iOS 13.0 macOS 10.15
    public static let combine = AccessibilityChildBehavior()
}
