import Countersign
import Foundation
import ServerTestSupport
import Synchronization

/// A person who signs in on the server's page, by a phone that they trust; the browser has no scripts.
final class PagePerson: BrowserSession {
    private let world: CotterWorld
    private let phone: Authenticator
    private let isWilling: Bool
    private let visitor: PageVisitor
    private let opened = Mutex<[URL]>([])

    init(_ world: CotterWorld, phone: Authenticator, isWilling: Bool = true) {
        self.world = world
        self.phone = phone
        self.isWilling = isWilling
        visitor = PageVisitor(world.server)
    }

    /// The pages that were opened, in order.
    var pages: [URL] { opened.withLock { $0 } }

    func open(_ url: URL, returningTo redirectURI: URL) async throws -> URL {
        opened.withLock { $0.append(url) }
        guard isWilling else { throw CancellationError() }
        return try await visitor.signIn(url, as: CotterWorld.address) { number in
            _ = try await phone.asked().approve(with: .confirmation, number: number)
        }
    }
}
