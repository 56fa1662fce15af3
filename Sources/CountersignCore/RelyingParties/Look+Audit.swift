import Encodings

extension Look {
    /// What the audit says of the look.
    var auditDetail: JSONObject {
        JSONObject([
            "logo": logo.map { .string($0.hash.hex) }, "accent": accent.map { .string("\($0.light)") },
            "accent_dark": accent?.dark.map { .string("\($0)") },
        ])
    }
}
