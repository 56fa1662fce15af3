#if !canImport(UIKit)
    public import Foundation

    /// A colour.
    public final class UIColor: Hashable, Sendable {
        private let parts: [CGFloat]

        /// A colour of these parts, each from 0 to 1.
        public init(red: CGFloat, green: CGFloat, blue: CGFloat, alpha: CGFloat) {
            parts = [red, green, blue, alpha]
        }

        /// Tells the parts.
        @discardableResult
        public func getRed(
            _ red: UnsafeMutablePointer<CGFloat>?, green: UnsafeMutablePointer<CGFloat>?,
            blue: UnsafeMutablePointer<CGFloat>?, alpha: UnsafeMutablePointer<CGFloat>?
        ) -> Bool {
            red?.pointee = parts[0]
            green?.pointee = parts[1]
            blue?.pointee = parts[2]
            alpha?.pointee = parts[3]
            return true
        }

        /// Whether two colours have the same parts.
        public static func == (one: UIColor, other: UIColor) -> Bool { one.parts == other.parts }

        /// Adds the parts.
        public func hash(into hasher: inout Hasher) { hasher.combine(parts) }
    }
#endif
