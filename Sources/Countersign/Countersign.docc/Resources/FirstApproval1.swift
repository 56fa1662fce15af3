import Countersign
import Foundation

@main
struct Phone {
    static func main() async throws {
        guard let issuer = URL(string: "http://127.0.0.1:8080") else { return }
        let authenticator = try await Authenticator(
            issuer: issuer, app: AppDescription(name: "Phone", version: "1.0", deviceName: "My phone"),
            vault: FileVault(at: URL(filePath: "phone-data")))
        print("Enrolled so far: \(await authenticator.enrollments.count)")
    }
}
