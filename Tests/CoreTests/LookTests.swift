import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import TestSupport
import Testing

@testable import CountersignCore

@Suite("What a client replaces on its pages")
struct LookTests {
    private static func colour(_ text: String) throws -> Colour { try #require(Colour(text), "\(text)") }

    /// The palette of the pages: each colour with its contrast to the page and to the panel.
    private static let palette: [(colour: String, page: String, panel: String, onPage: Double, onPanel: Double)] = [
        ("#12181c", "#ffffff", "#f1f4f5", 17.9, 16.2), ("#eaeff1", "#101518", "#171e22", 15.9, 14.5),
        ("#4e5960", "#ffffff", "#f1f4f5", 7.2, 6.5), ("#a7b3b9", "#101518", "#171e22", 8.6, 7.9),
        ("#737e85", "#ffffff", "#f1f4f5", 4.2, 3.8), ("#78858c", "#101518", "#171e22", 4.8, 4.4),
        ("#d3dadd", "#ffffff", "#f1f4f5", 1.4, 1.3), ("#323d43", "#101518", "#171e22", 1.6, 1.5),
        ("#00566b", "#ffffff", "#f1f4f5", 8.3, 7.5), ("#7ccbdd", "#101518", "#171e22", 10.0, 9.2),
        ("#a8201a", "#ffffff", "#f1f4f5", 7.3, 6.6), ("#ffa59b", "#101518", "#171e22", 9.7, 8.9),
        ("#1b6440", "#ffffff", "#f1f4f5", 7.1, 6.5), ("#86d6a8", "#101518", "#171e22", 10.7, 9.8),
    ]

    // Spec: WCAG 2.2, *Contrast ratio*; WCAG 2.2, *Relative luminance*.
    @Test("Contrast is that of the palette, and of black, white and a colour with itself")
    func contrast() throws {
        func ratio(_ one: String, _ other: String) throws -> Double {
            let (one, other) = (try Self.colour(one), try Self.colour(other))
            #expect(one.contrast(to: other) == other.contrast(to: one))
            return one.contrast(to: other)
        }
        for entry in Self.palette {
            #expect(abs(try ratio(entry.colour, entry.page) - entry.onPage) <= 0.05, "\(entry)")
            #expect(abs(try ratio(entry.colour, entry.panel) - entry.onPanel) <= 0.05, "\(entry)")
        }
        #expect(try abs(ratio("#000000", "#ffffff") - 21) < 1e-9 && ratio("#8a1538", "#8a1538") == 1)
        #expect(try Self.colour("#000000").luminance == 0 && abs(Self.colour("#ffffff").luminance - 1) < 1e-9)
        #expect(Accent.Scheme.allCases.map { "\($0.panel)" } == ["#f1f4f5", "#171e22"])
    }

    // Spec: WCAG 2.2 §1.4.3.
    @Test("A colour with less contrast than 4.5 to the panel of its scheme is refused, with what was measured")
    func hardToRead() throws {
        func accent(_ light: String, _ dark: String?) throws -> Accent {
            try Accent(light: Self.colour(light), dark: dark.map(Self.colour))
        }
        // 4.546 and 4.480 to the light panel, 4.509 and 4.448 to the dark one.
        #expect(try accent("#6f6f6f", nil).dark == nil)
        #expect(throws: Accent.HardToRead(scheme: .light, hundredths: 448)) { try accent("#707070", nil) }
        #expect(throws: Never.self) { try accent("#000000", "#848484") }
        #expect(throws: Accent.HardToRead(scheme: .dark, hundredths: 444)) { try accent("#000000", "#838383") }
        #expect(throws: Accent.HardToRead(scheme: .light, hundredths: 110)) { try accent("#ffffff", "#ffffff") }
    }

    @Test(
        "Anything but a number sign and six digits is no colour",
        arguments: ["", "8a1538", "#8a153", "#8a15380", "#8a153g", "red", "#8a1538}", "#８a1538", "#8a153\u{301}"])
    func malformed(_ text: String) {
        #expect(Colour(text) == nil)
    }

    @Test("A colour is written in one way")
    func written() throws {
        #expect(try "\(Self.colour("#8A1538"))" == "#8a1538" && Self.colour("#0a0B0c").number == 0x0A_0B0C)
    }

    private static let colours = SetLook.Request.Colours(light: "#8a1538", dark: "#ffb3c4")

    private func look(in scene: SignInScene) async throws -> Look? {
        guard case .shown(let look) = try await ShowLook.show(scene.shop.id, ports: scene.world.ports) else {
            throw World.Broken("look")
        }
        #expect(try await ShowLook.look(of: scene.shop.id, ports: scene.world.ports) == look)
        return look
    }

    @Test("A look is set, replaced, shown and removed, and the audit says so", arguments: Engine.allCases)
    func set(_ engine: Engine) async throws {
        let scene = try await SignInScene(engine)
        let (ports, shop) = (scene.world.ports, scene.shop)
        let file = PNGFile.picture(width: 120, height: 44)
        let logo = try Logo(png: file)
        #expect(try await look(in: scene) == nil)
        let whole = Look(
            logo: .init(hash: logo.hash, width: 120, height: 44),
            accent: try Accent(light: Self.colour("#8a1538"), dark: Self.colour("#ffb3c4")))
        let request = SetLook.Request(logo: file, accent: Self.colours)
        #expect(try await SetLook.set(request, of: shop.id, by: shop.actor, ports: ports) == .set(whole))
        #expect(try await look(in: scene) == whole)
        #expect(try await ShowLook.logo(logo.hash, ports: ports) == file)
        // What is left out is gone.
        let plain = SetLook.Request(logo: nil, accent: .init(light: "#00566b", dark: nil))
        _ = try await SetLook.set(plain, of: shop.id, by: shop.actor, ports: ports)
        #expect(try await look(in: scene)?.logo == nil)
        #expect(try await ShowLook.logo(logo.hash, ports: ports) == nil)
        for _ in 0..<2 {
            #expect(try await RemoveLook.remove(of: shop.id, by: shop.actor, ports: ports) == .removed)
        }
        #expect(try await look(in: scene) == nil)
        let events = try await scene.world.audit().filter { $0.kind == .lookSet || $0.kind == .lookRemoved }
        let by = JSONValue.string("\(shop.id)")
        #expect(
            events.map(\.detail) == [
                ["logo": .string(logo.hash.hex), "accent": "#8a1538", "accent_dark": "#ffb3c4", "by": by],
                ["accent": "#00566b", "by": by], ["by": by],
            ])
        #expect(events.map(\.client) == [shop.id, shop.id, shop.id])
    }

    @Test("What is refused changes nothing")
    func refused() async throws {
        let scene = try await SignInScene()
        let (ports, shop) = (scene.world.ports, scene.shop)
        func set(
            _ logo: [UInt8]?, _ light: String?, _ dark: String? = nil, of client: ClientID? = nil
        ) async throws -> SetLook.Outcome {
            let request = SetLook.Request(logo: logo, accent: light.map { .init(light: $0, dark: dark) })
            return try await SetLook.set(request, of: client ?? shop.id, by: shop.actor, ports: ports)
        }
        _ = try await set(nil, "#8a1538")
        let before = try await look(in: scene)
        #expect(try await set(Array("GIF89a".utf8), nil) == .logoRefused(.notPNG))
        #expect(try await set(nil, "red") == .noColour(.light))
        #expect(try await set(nil, "#8a1538", "none") == .noColour(.dark))
        #expect(try await set(nil, "#8a1538", "#8a1538") == .hardToRead(.init(scheme: .dark, hundredths: 180)))
        let other = try await scene.world.makeClient("Other").client.id
        #expect(try await set(nil, "#8a1538", of: other) == .notFound)
        #expect(try await RemoveLook.remove(of: other, by: shop.actor, ports: ports) == .notFound)
        #expect(try await ShowLook.show(other, ports: ports) == .notFound)
        #expect(try await look(in: scene) == before)
    }

    @Test(
        "A logo goes with its client, with the client's settings, and stays where another client has it",
        arguments: Engine.allCases)
    func gone(_ engine: Engine) async throws {
        let scene = try await SignInScene(engine)
        let ports = scene.world.ports
        let file = PNGFile.picture(width: 3, height: 2)
        let hash = try Logo(png: file).hash
        let others = [try await scene.otherClient(), try await scene.otherClient()]
        for client in [scene.shop.id] + others {
            let request = SetLook.Request(logo: file, accent: Self.colours)
            guard case .set = try await SetLook.set(request, of: client, by: .system, ports: ports) else {
                throw World.Broken("look")
            }
        }
        #expect(try await DeleteClient.delete(others[0], by: .system, ports: ports) == .deleted)
        #expect(try await RemoveRelyingParty.remove(others[1], by: .system, ports: ports) == .removed)
        #expect(try await scene.world.count("looks") == 1)
        #expect(try await ShowLook.logo(hash, ports: ports) == file)
        #expect(try await RemoveLook.remove(of: scene.shop.id, by: .system, ports: ports) == .removed)
        #expect(try await ShowLook.logo(hash, ports: ports) == nil)
    }

    @Test("A page reads the name of the logo, and never its bytes")
    func cost() async throws {
        let (world, recorder) = try await World.recorded()
        let scene = try await SignInScene(in: world)
        let file = PNGFile.picture(width: 3, height: 2)
        _ = try await SetLook.set(
            .init(logo: file, accent: nil), of: scene.shop.id, by: scene.shop.actor, ports: world.ports)
        _ = recorder.take()
        _ = try await ShowLook.look(of: scene.shop.id, ports: world.ports)
        let statements = recorder.take().map(\.statement.text).filter { $0.contains("looks") }
        #expect(
            statements == [
                "SELECT accent, accent_dark, logo_hash, logo_width, logo_height FROM looks WHERE client_id = $1"
            ])
    }

    @Test("Of a row that somebody has written, no page takes anything but colours")
    func stored() async throws {
        let scene = try await SignInScene()
        let ports = scene.world.ports
        _ = try await SetLook.set(
            .init(logo: nil, accent: Self.colours), of: scene.shop.id, by: scene.shop.actor, ports: ports)
        // The panels of this version may be others than those of the version that took the colour.
        try await scene.world.sql("UPDATE looks SET accent = '#ffffff'")
        #expect(try await ShowLook.look(of: scene.shop.id, ports: ports) == Look(logo: nil, accent: nil))
        try await scene.world.sql("UPDATE looks SET accent = '#8a1538}body{display:none'")
        await #expect(throws: StoreError.corruptRow("column 0")) {
            try await ShowLook.look(of: scene.shop.id, ports: ports)
        }
    }
}
