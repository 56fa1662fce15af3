/// A value that must not leak: it prints as `•••`, has no encoding and no variable-time comparison.
public struct Secret<Value: Sendable>: Sendable {
    private let value: Value

    /// Wraps a value.
    public init(_ value: Value) {
        self.value = value
    }

    /// The value itself.
    ///
    /// The caller is responsible for where the value goes.
    public func reveal() -> Value {
        value
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Always `•••`.
    public var description: String { "•••" }
    /// Always `•••`.
    public var debugDescription: String { "•••" }
    /// A mirror without children, so that `dump` shows nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Secret where Value == [UInt8] {
    /// Whether two secrets are the same bytes, in constant time.
    ///
    /// There is no `==`, so that every comparison of secrets is visible in the code.
    public func isSame(as other: Secret) -> Bool {
        constantTimeEqual(value, other.value)
    }
}

extension Secret where Value == String {
    /// Whether two secrets are the same bytes, in constant time.
    public func isSame(as other: Secret) -> Bool {
        constantTimeEqual(Array(value.utf8), Array(other.value.utf8))
    }
}
