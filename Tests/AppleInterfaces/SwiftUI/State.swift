import Foundation
import Observation

/// Page: swiftui/state iOS 13.0 macOS 10.15
@propertyWrapper
public struct State<Value> {
    /// Page: swiftui/state/init(wrappedvalue:) iOS 13.0 macOS 10.15
    public init(wrappedValue value: Value) {}

    /// Page: swiftui/state/wrappedvalue iOS 13.0 macOS 10.15
    public var wrappedValue: Value {
        get { usual() }
        nonmutating set {}
    }

    /// Page: swiftui/state/projectedvalue iOS 13.0 macOS 10.15
    public var projectedValue: Binding<Value> { usual() }
}

/// Page: swiftui/binding iOS 13.0 macOS 10.15
public struct Binding<Value> {}

/// Page: swiftui/bindable iOS 17.0 macOS 14.0
@dynamicMemberLookup
@propertyWrapper
public struct Bindable<Value> {
    /// Page: swiftui/bindable/init(wrappedvalue:) iOS 17.0 macOS 14.0
    public init(wrappedValue: Value) where Value: AnyObject & Observable {}

    /// Page: swiftui/bindable/wrappedvalue iOS 17.0 macOS 14.0
    public var wrappedValue: Value {
        get { usual() }
        set {}
    }

    /// Page: swiftui/bindable/projectedvalue iOS 17.0 macOS 14.0
    public var projectedValue: Bindable<Value> { self }

    /// Page: swiftui/bindable/subscript(dynamicmember:) iOS 17.0 macOS 14.0
    public subscript<Subject>(
        dynamicMember keyPath: ReferenceWritableKeyPath<Value, Subject>
    ) -> Binding<Subject> where Value: AnyObject { usual() }
}

/// Page: swiftui/environment iOS 13.0 macOS 10.15
@propertyWrapper
public struct Environment<Value> {
    /// Page: swiftui/environment/init(_:)-8slkf iOS 13.0 macOS 10.15
    public init(_ keyPath: KeyPath<EnvironmentValues, Value>) {}

    /// Page: swiftui/environment/wrappedvalue iOS 13.0 macOS 10.15
    public var wrappedValue: Value { usual() }
}

/// Page: swiftui/environmentvalues iOS 13.0 macOS 10.15
public struct EnvironmentValues {
    /// Page: swiftui/environmentvalues/openurl iOS 14.0 macOS 11.0
    public var openURL: OpenURLAction { usual() }

    /// Page: swiftui/environmentvalues/accessibilityvoiceoverenabled iOS 15.0 macOS 12.0
    public var accessibilityVoiceOverEnabled: Bool { false }

    /// Page: swiftui/environmentvalues/scenephase iOS 14.0 macOS 11.0
    public var scenePhase: ScenePhase { .inactive }
}

/// Page: swiftui/scenephase iOS 14.0 macOS 11.0
public enum ScenePhase: Sendable {
    /// Page: swiftui/scenephase/inactive iOS 14.0 macOS 11.0
    case inactive
}

/// Page: swiftui/openurlaction iOS 14.0 macOS 11.0
@MainActor
public struct OpenURLAction {
    /// Page: swiftui/openurlaction/callasfunction(_:) iOS 14.0 macOS 11.0
    public func callAsFunction(_ url: URL) {}
}

/// Page: swiftui/focusstate iOS 15.0 macOS 12.0
@propertyWrapper
public struct FocusState<Value: Hashable> {
    /// Page: swiftui/focusstate/binding iOS 15.0 macOS 12.0
    public struct Binding {}

    /// Page: swiftui/focusstate/init() iOS 15.0 macOS 12.0
    public init() where Value == Bool {}

    /// Page: swiftui/focusstate/wrappedvalue iOS 15.0 macOS 12.0
    public var wrappedValue: Value {
        get { usual() }
        nonmutating set {}
    }

    /// Page: swiftui/focusstate/projectedvalue iOS 15.0 macOS 12.0
    public var projectedValue: Binding { usual() }
}

/// Page: swiftui/accessibilityfocusstate iOS 15.0 macOS 12.0
@propertyWrapper
public struct AccessibilityFocusState<Value: Hashable> {
    /// Page: swiftui/accessibilityfocusstate/binding iOS 15.0 macOS 12.0
    public struct Binding {}

    /// Page: swiftui/accessibilityfocusstate/init()-9vlp1 iOS 15.0 macOS 12.0
    public init<T: Hashable>() where Value == T? {}

    /// Page: swiftui/accessibilityfocusstate/wrappedvalue iOS 15.0 macOS 12.0
    public var wrappedValue: Value {
        get { usual() }
        nonmutating set {}
    }

    /// Page: swiftui/accessibilityfocusstate/projectedvalue iOS 15.0 macOS 12.0
    public var projectedValue: Binding { usual() }
}

/// What nobody reads: a value that a declaration must have.
@usableFromInline
func usual<Value>() -> Value { preconditionFailure() }
