import Foundation
import Testing
import Yams

@testable import CountersignCommand

@Suite("The examples for compose: nothing here runs them, so what can be read of them is")
struct ComposeTests {
    /// The files, from the repository.
    private static let files = ["compose.yaml", "compose-postgresql.yaml"]
    /// What the Compose Specification lets stand in a service, of what we use.
    private static let keys: Set<String> = [
        "build", "image", "depends_on", "restart", "stop_grace_period", "read_only", "cap_drop", "security_opt",
        "tmpfs", "ports", "volumes", "secrets", "environment", "healthcheck", "shm_size",
    ]

    private func load(_ file: String) throws -> [String: Any] {
        let packaging = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../packaging")
        let text = try String(contentsOf: packaging.appending(path: file), encoding: .utf8)
        return try #require(try Yams.load(yaml: text) as? [String: Any])
    }

    private func services(_ file: String) throws -> [String: [String: Any]] {
        let services = try #require(try load(file)["services"] as? [String: [String: Any]])
        #expect(!services.isEmpty)
        return services
    }

    @Test("Their keys are those of the Compose Specification", arguments: files)
    func keys(_ file: String) throws {
        #expect(Set(try load(file).keys).isSubset(of: ["services", "networks", "volumes", "secrets"]))
        for (name, service) in try services(file) {
            #expect(Set(service.keys).subtracting(Self.keys) == [], "\(name)")
            #expect((service["build"] == nil) != (service["image"] == nil), "\(name)")
        }
    }

    @Test("What they name is there: secrets, volumes, services", arguments: files)
    func names(_ file: String) throws {
        let whole = try load(file)
        let services = try services(file)
        let (secrets, volumes) = (whole["secrets"] as? [String: Any], whole["volumes"] as? [String: Any])
        for (name, service) in services {
            for secret in service["secrets"] as? [String] ?? [] {
                #expect(secrets?[secret] != nil, "\(name): \(secret)")
            }
            for volume in service["volumes"] as? [String] ?? [] where !volume.hasPrefix(".") {
                #expect(volumes?[String(volume.prefix { $0 != ":" })] != nil, "\(name): \(volume)")
            }
            let needed = (service["depends_on"] as? [String: Any]).map { Array($0.keys) }
            for other in needed ?? service["depends_on"] as? [String] ?? [] {
                #expect(services[other] != nil, "\(name): \(other)")
            }
        }
    }

    @Test("The settings that they give our servers are right", arguments: files)
    func settings(_ file: String) throws {
        var count = 0
        for (name, service) in try services(file) where service["build"] != nil {
            let environment = try #require(service["environment"] as? [String: String], "\(name)")
            let configuration = try Configuration(flags: [:], file: nil, environment: environment)
            #expect(configuration[Settings.issuer] != nil)
            // Each is read from a secret of the service.
            let secrets = service["secrets"] as? [String] ?? []
            let named = environment.values.flatMap { $0.matches(of: #/\/run\/secrets\/([a-z_]+)/#).map(\.output.1) }
            #expect(Set(named.map(String.init)) == Set(secrets))
            count += 1
        }
        #expect(count == (file == "compose.yaml" ? 1 : 2))
    }
}
