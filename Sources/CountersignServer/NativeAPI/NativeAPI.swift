import CountersignCore
import CountersignDelivery
import CountersignWire
import Encodings
import Hummingbird

/// The native API: JSON for relying parties, devices and operators, with the pages and status of the server.
///
/// It also answers on paths that no other door has. Its refusals are problems. Spec: RFC 9457.
final class NativeAPI: Door {
    let ports: Ports
    /// Whether development rules apply, because both the issuer and the listener are loopback.
    let isDevelopment: Bool
    let resources: DoorResources
    /// Holds messages to people in development mode; nil otherwise.
    let developmentOutbox: DevelopmentOutbox?

    var waits: Waits { resources.waits }
    /// Ends all waits when the server is asked to stop.
    var shutdown: WaitCanceller { resources.shutdown }

    init(_ resources: DoorResources, developmentOutbox: DevelopmentOutbox?) {
        ports = resources.ports
        isDevelopment = resources.isDevelopment
        self.resources = resources
        self.developmentOutbox = developmentOutbox
    }

    var paths: [String] { [] }

    func addRoutes(to table: inout RouteTable) {
        var routes = NativeRoutes(table, self)
        addOperations(to: &routes)
        addPages(to: &routes)
        addChallenges(to: &routes)
        addUsers(to: &routes)
        addEnrollments(to: &routes)
        addLists(to: &routes)
        addExports(to: &routes)
        addAdministrationOfUsers(to: &routes)
        addDevices(to: &routes)
        addAdministration(to: &routes)
        table = routes.table
    }
}
