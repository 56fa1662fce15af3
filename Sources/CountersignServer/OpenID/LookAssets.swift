import CountersignCore
import CountersignPages
import CountersignWire
import HTTPTypes
import Hummingbird

/// What clients replace on the pages: their logos and colours, on our own host.
///
/// Each is named by its content, so that a name tells nobody which clients there are, and browsers keep it for good.
///
/// Spec: docs/decisions/0081-what-a-client-replaces.md.
extension SignInDoor {
    private static let logos = "/assets/logos"
    private static let pictureSuffix = ".png"

    func addLooks(to table: inout RouteTable) {
        table.add(.get, "\(PageAccent.folder)/:name") { request, context in
            let incoming = try await Incoming(request, context)
            guard let accent = incoming.parameter("name").flatMap({ PageAccent(name: $0) }) else {
                throw RequestFailure.unknownPath
            }
            return Self.asset(Array(accent.stylesheet.utf8), type: "text/css; charset=utf-8")
        }
        table.add(.get, "\(Self.logos)/:name") { [self] request, context in
            let incoming = try await Incoming(request, context)
            guard let hash = incoming.parameter("name").flatMap(Self.logo(named:)),
                let logo = try await ShowLook.logo(hash, ports: ports)
            else { throw RequestFailure.unknownPath }
            var response = Self.asset(logo, type: "image/png")
            // Whatever else the bytes may be: opened by itself, the picture is a page that can do nothing.
            response.headers[.contentSecurityPolicy] = "default-src 'none'; sandbox"
            // Our host serves no pictures to other sites.
            response.headers[.crossOriginResourcePolicy] = "same-origin"
            return response
        }
    }

    /// A file that never changes: its path changes with its content.
    ///
    /// Spec: RFC 8246 §2.
    static func asset(_ bytes: [UInt8], type: String) -> Response {
        var response = Response(bytes: bytes, type: type)
        response.headers[.cacheControl] = "public, max-age=31536000, immutable"
        response.headers[.xContentTypeOptions] = "nosniff"
        return response
    }

    /// A client as the frame of a page shows it.
    func shown(_ client: Client, host: String) async throws -> PageFrame.Client {
        let look = try await ShowLook.look(of: client.id, ports: ports)
        return PageFrame.Client(
            name: client.name.text, host: host, logoPath: look?.logo.map { Self.path(of: $0.hash) },
            accentPath: look?.accent.map { PageAccent(light: $0.light.number, dark: $0.dark?.number).path })
    }

    static func path(of logo: LogoHash) -> String { "\(logos)/\(logo.hex)\(pictureSuffix)" }

    /// The logo of a file's name; nil for other names.
    private static func logo(named name: String) -> LogoHash? {
        name.hasSuffix(pictureSuffix) ? LogoHash(hex: String(name.dropLast(pictureSuffix.count))) : nil
    }
}
