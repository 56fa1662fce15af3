import Foundation

#if canImport(UIKit)
    import UIKit
#endif

extension View {
    /// Page: swiftui/view/padding(_:)-68shk iOS 13.0 macOS 10.15
    public func padding(_ length: CGFloat) -> some View { self }

    /// Page: swiftui/view/frame(minwidth:idealwidth:maxwidth:minheight:idealheight:maxheight:alignment:) iOS 13.0 macOS 10.15
    public func frame(
        minWidth: CGFloat? = nil, idealWidth: CGFloat? = nil, maxWidth: CGFloat? = nil, minHeight: CGFloat? = nil,
        idealHeight: CGFloat? = nil, maxHeight: CGFloat? = nil, alignment: Alignment = usual()
    ) -> some View { self }

    /// Page: swiftui/view/fixedsize(horizontal:vertical:) iOS 13.0 macOS 10.15
    public func fixedSize(horizontal: Bool, vertical: Bool) -> some View { self }

    /// Page: swiftui/view/scaledtofit() iOS 13.0 macOS 10.15
    public func scaledToFit() -> some View { self }

    /// Page: swiftui/view/background(alignment:content:) iOS 15.0 macOS 12.0
    public func background<V: View>(alignment: Alignment = usual(), @ViewBuilder content: () -> V) -> some View { self }

    /// Page: swiftui/view/tint(_:) iOS 15.0 macOS 12.0
    public func tint(_ tint: Color?) -> some View { self }

    /// Page: swiftui/view/foregroundstyle(_:) iOS 15.0 macOS 12.0
    public func foregroundStyle<S: ShapeStyle>(_ style: S) -> some View { self }

    /// Page: swiftui/view/font(_:) iOS 13.0 macOS 10.15
    public func font(_ font: Font?) -> some View { self }

    /// Page: swiftui/view/monospaceddigit() iOS 15.0 macOS 12.0
    public func monospacedDigit() -> some View { self }

    /// Page: swiftui/view/controlsize(_:) iOS 15.0 macOS 10.15
    public func controlSize(_ controlSize: ControlSize) -> some View { self }

    /// Page: swiftui/view/buttonstyle(_:)-66fbx iOS 13.0 macOS 10.15
    public func buttonStyle<S: PrimitiveButtonStyle>(_ style: S) -> some View { self }

    /// Page: swiftui/view/textfieldstyle(_:) iOS 13.0 macOS 10.15
    public func textFieldStyle<S: TextFieldStyle>(_ style: S) -> some View { self }

    /// Page: swiftui/view/labelshidden() iOS 13.0 macOS 10.15
    public func labelsHidden() -> some View { self }

    /// Page: swiftui/view/autocorrectiondisabled(_:) iOS 13.0 macOS 10.15
    public func autocorrectionDisabled(_ disable: Bool = true) -> some View { self }

    /// Page: swiftui/view/focused(_:) iOS 15.0 macOS 12.0
    public func focused(_ condition: FocusState<Bool>.Binding) -> some View { self }

    /// Page: swiftui/view/onsubmit(of:_:) iOS 15.0 macOS 12.0
    public func onSubmit(of triggers: SubmitTriggers = usual(), _ action: @escaping () -> Void) -> some View { self }

    /// Page: swiftui/view/scrolldismisseskeyboard(_:) iOS 16.0 macOS 13.0
    public func scrollDismissesKeyboard(_ mode: ScrollDismissesKeyboardMode) -> some View { self }

    /// Page: swiftui/view/task(priority:_:) iOS 15.0 macOS 12.0
    public func task(
        priority: TaskPriority = .userInitiated, @_inheritActorContext _ action: @escaping @Sendable () async -> Void
    ) -> some View { self }

    /// Page: swiftui/view/task(id:priority:_:) iOS 15.0 macOS 12.0
    public func task<T: Equatable>(
        id value: T, priority: TaskPriority = .userInitiated,
        @_inheritActorContext _ action: @escaping @Sendable () async -> Void
    ) -> some View { self }

    /// Page: swiftui/view/onchange(of:initial:_:)-4psgg iOS 17.0 macOS 14.0
    public func onChange<V: Equatable>(
        of value: V, initial: Bool = false, _ action: @escaping (_ oldValue: V, _ newValue: V) -> Void
    ) -> some View { self }

    /// Page: swiftui/view/accessibilityhidden(_:) iOS 14.0 macOS 11.0
    public func accessibilityHidden(_ hidden: Bool) -> some View { self }

    /// Page: swiftui/view/accessibilitylabel(_:)-1d7jv iOS 14.0 macOS 11.0
    public func accessibilityLabel(_ label: Text) -> some View { self }

    /// Page: swiftui/view/accessibilityaddtraits(_:) iOS 14.0 macOS 11.0
    public func accessibilityAddTraits(_ traits: AccessibilityTraits) -> some View { self }

    /// Page: swiftui/view/accessibilityelement(children:) iOS 13.0 macOS 10.15
    public func accessibilityElement(children: AccessibilityChildBehavior) -> some View { self }

    /// Page: swiftui/view/accessibilityfocused(_:equals:) iOS 15.0 macOS 12.0
    public func accessibilityFocused<Value: Hashable>(
        _ binding: AccessibilityFocusState<Value>.Binding, equals value: Value
    ) -> some View { self }

    /// Page: swiftui/view/sheet(item:ondismiss:content:) iOS 13.0 macOS 10.15
    public func sheet<Item: Identifiable, Content: View>(
        item: Binding<Item?>, onDismiss: (() -> Void)? = nil, @ViewBuilder content: @escaping (Item) -> Content
    ) -> some View { self }

    /// Page: swiftui/view/onopenurl(perform:) iOS 14.0 macOS 11.0
    public func onOpenURL(perform action: @escaping (URL) -> Void) -> some View { self }

    #if canImport(UIKit)
        /// Page: swiftui/view/keyboardtype(_:) iOS 13.0
        public func keyboardType(_ type: UIKeyboardType) -> some View { self }

        /// Page: swiftui/view/textcontenttype(_:)-ufdv iOS 13.0
        public func textContentType(_ textContentType: UITextContentType?) -> some View { self }
    #endif
}
