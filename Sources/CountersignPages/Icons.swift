/// The icons of the pages: 24 pixels, drawn with lines of 1.75.
enum Icons {
    /// A phone.
    static let phone = icon(#"<rect x="7" y="2.5" width="10" height="19" rx="2" /><path d="M11 18.5h2" />"#)
    /// A key.
    static let key = icon(#"<circle cx="8" cy="8" r="4.5" /><path d="m11.5 11.5 9 9M16 16l2.5-2.5" />"#)
    /// A QR code.
    static let qr = icon(
        #"<path d="M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM14 14h2.5v2.5M20 14v2.5M14 20h2.5M20 20h-.01" />"#)
    /// A letter.
    static let letter = icon(#"<rect x="3" y="5" width="18" height="14" rx="2" /><path d="m3.5 7 8.5 6 8.5-6" />"#)
    /// A speech bubble.
    static let bubble = icon(#"<path d="M4 4.5h16v12H11l-4.5 4v-4H4zM8.5 9h7M8.5 12.5h4" />"#)
    /// An arrow that leads on, in the direction of the text.
    static let onward = icon(#"<path d="m9.5 7 5 5-5 5" />"#, name: "onward")
    /// The sign beside each error.
    static let sign = icon(#"<circle cx="12" cy="12" r="9" /><path d="M12 7.5v5M12 16.2v.01" />"#)

    private static func icon(_ shape: String, name: String? = nil) -> String {
        let type = name.map { #" class="\#($0)""# } ?? ""
        return #"<svg viewBox="0 0 24 24" width="24" height="24" aria-hidden="true"\#(type)>\#(shape)</svg>"#
    }
}
