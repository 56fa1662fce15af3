package import CountersignWire
package import Encodings

/// A client's colour in both schemes, as texts: `Accent` of the contract.
package struct LookColours: Sendable {
    /// The colour in the light scheme.
    package var light: String
    /// The colour in the dark scheme; nil where that scheme uses the colour of its text.
    package var dark: String?

    /// Colours of these texts.
    package init(light: String, dark: String?) {
        self.light = light
        self.dark = dark
    }

    fileprivate var json: JSONValue { .members(["light": .string(light), "dark": .text(dark)]) }

    /// Reads colours that stand at a JSON pointer.
    fileprivate init(_ json: JSONValue, at pointer: String, isStrict: Bool) throws(JSONShapeError) {
        var members = try JSONMembers(json, at: pointer)
        light = try members.string("light")
        dark = try members.optionalString("dark")
        if isStrict { try members.refuseUnknown() }
    }
}

/// What a client shall replace on its pages: `LookRequest` of the contract.
package struct LookRequest: Sendable {
    /// The bytes of a PNG; nil for no logo.
    package var logo: [UInt8]?
    /// The colour; nil for the pages' own.
    package var accent: LookColours?

    /// A request of these parts.
    package init(logo: [UInt8]?, accent: LookColours?) {
        self.logo = logo
        self.accent = accent
    }

    /// The request as JSON.
    package var json: JSONValue {
        .members(["logo": .text(logo.map { Base64.encode($0) }), "accent": accent?.json])
    }

    /// Reads a request.
    package init(_ json: JSONValue) throws(JSONShapeError) {
        var members = try JSONMembers(json)
        logo = try members.optional("logo", "a PNG in base64") { $0.string.flatMap { Base64.decode($0) } }
        let pointer = members.pointer(to: "accent")
        if let colours = members.value("accent") {
            accent = try LookColours(colours, at: pointer, isStrict: true)
        } else {
            accent = nil
        }
        try members.refuseUnknown()
        guard logo != nil || accent != nil else {
            throw .invalid(pointer: "", expected: "an object with a logo, an accent, or both")
        }
    }
}

/// What a client replaces on its pages: `Look` of the contract.
package struct LookView: Sendable {
    /// A logo.
    package struct Logo: Sendable {
        /// The SHA-256 of the file as it is served, in hexadecimal digits.
        package var sha256: String
        /// The width in pixels.
        package var width: Int
        /// The height in pixels.
        package var height: Int
        /// Where the server has it.
        package var path: String

        /// A logo of these parts.
        package init(sha256: String, width: Int, height: Int, path: String) {
            self.sha256 = sha256
            self.width = width
            self.height = height
            self.path = path
        }

        fileprivate var json: JSONValue {
            [
                "sha256": .string(sha256), "width": .integer(Int64(width)), "height": .integer(Int64(height)),
                "path": .string(path),
            ]
        }

        fileprivate init(_ json: JSONValue, at pointer: String) throws(JSONShapeError) {
            var members = try JSONMembers(json, at: pointer)
            sha256 = try members.string("sha256")
            width = Int(try members.integer("width", in: 1...Int64(Int32.max)))
            height = Int(try members.integer("height", in: 1...Int64(Int32.max)))
            path = try members.string("path")
        }
    }

    /// The client.
    package var client: ClientID
    /// The logo; nil for none.
    package var logo: Logo?
    /// The colour; nil for the pages' own.
    package var accent: LookColours?

    /// A view of these parts.
    package init(client: ClientID, logo: Logo?, accent: LookColours?) {
        self.client = client
        self.logo = logo
        self.accent = accent
    }

    /// The view as JSON.
    package var json: JSONValue {
        .members(["client": .text(client), "logo": logo?.json, "accent": accent?.json])
    }

    /// Reads a view; members nobody knows are ignored.
    package init(_ json: JSONValue) throws(JSONShapeError) {
        var members = try JSONMembers(json)
        client = try members.id("client")
        if let value = members.value("logo") {
            logo = try Logo(value, at: members.pointer(to: "logo"))
        } else {
            logo = nil
        }
        if let value = members.value("accent") {
            accent = try LookColours(value, at: members.pointer(to: "accent"), isStrict: false)
        } else {
            accent = nil
        }
    }
}
