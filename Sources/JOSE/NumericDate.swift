package import Encodings

extension JSONValue {
    /// A time in a JWT, in seconds since 1970; nil if it is no number, or one that no clock shows.
    ///
    /// A fraction, as the clocks of many languages give it, is left out.
    ///
    /// Spec: RFC 7519 §2, NumericDate.
    package var numericDate: Int64? {
        switch self {
        case .integer(let seconds): seconds
        case .double(let seconds): Int64(exactly: seconds.rounded(.down))
        default: nil
        }
    }
}
