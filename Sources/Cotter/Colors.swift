import Foundation

#if canImport(UIKit)
    public import UIKit
#else
    public import UIKitStandIn
#endif

/// A colour, however an app writes it: a `UIColor`, `0x21CE99` or `"#21CE99"`.
public protocol ColorValue {
    /// The colour; nil for a text that is none.
    var cotterColor: UIColor? { get }
}

extension UIColor: ColorValue {
    /// The colour itself.
    public var cotterColor: UIColor? { self }
}

extension Int: ColorValue {
    /// The colour of a number such as `0x21CE99`: red, green and blue have eight bits each, and higher ones do not
    /// count.
    public var cotterColor: UIColor? {
        func part(_ shift: Int) -> CGFloat { CGFloat((self >> shift) & 0xFF) / 255 }
        return UIColor(red: part(16), green: part(8), blue: part(0), alpha: 1)
    }
}

extension String: ColorValue {
    /// The colour of six hexadecimal digits, with or without `#`.
    public var cotterColor: UIColor? {
        let digits = hasPrefix("#") ? dropFirst() : self[...]
        guard digits.count == 6, digits.allSatisfy(\.isHexDigit) else { return nil }
        return Int(digits, radix: 16)?.cotterColor
    }
}

/// The app's colours.
///
/// ``primary`` and ``danger`` are those of buttons. The others are kept and shown nowhere: grounds, texts and fields have
/// the system's colours, which follow dark mode and the person's contrast.
public struct ColorSchemeObject {
    /// The colour of buttons.
    public var primary: UIColor?
    /// Shown nowhere.
    public var secondary: UIColor?
    /// Shown nowhere.
    public var accent: UIColor?
    /// The colour of what refuses, removes or is wrong.
    public var danger: UIColor?
    /// Shown nowhere.
    public var gray: UIColor?
    /// Shown nowhere.
    public var pinEmpty: UIColor?
    /// Shown nowhere.
    public var pinFilled: UIColor?
    /// Shown nowhere.
    public var pinError: UIColor?
    /// Shown nowhere.
    public var navbarTint: UIColor?

    /// Colours; those that are not named, or of a text that is no colour, stay the system's.
    ///
    /// Each is a `UIColor`, a number such as `0x21CE99`, or a text such as `"#21CE99"`. The five that begin with
    /// `reset` are taken, so that an app compiles, and not kept: the screens that had them are gone.
    public init(
        primary: (any ColorValue)? = nil, secondary: (any ColorValue)? = nil, accent: (any ColorValue)? = nil,
        danger: (any ColorValue)? = nil, gray: (any ColorValue)? = nil, pinEmpty: (any ColorValue)? = nil,
        pinFilled: (any ColorValue)? = nil, pinError: (any ColorValue)? = nil, navbarTint: (any ColorValue)? = nil,
        resetDefaultBg: (any ColorValue)? = nil, resetPopulatedBg: (any ColorValue)? = nil,
        resetInvalidBg: (any ColorValue)? = nil, resetInvalidText: (any ColorValue)? = nil,
        resetPopulatedText: (any ColorValue)? = nil
    ) {
        self.primary = primary?.cotterColor
        self.secondary = secondary?.cotterColor
        self.accent = accent?.cotterColor
        self.danger = danger?.cotterColor
        self.gray = gray?.cotterColor
        self.pinEmpty = pinEmpty?.cotterColor
        self.pinFilled = pinFilled?.cotterColor
        self.pinError = pinError?.cotterColor
        self.navbarTint = navbarTint?.cotterColor
    }
}
