import Countersign
import Foundation

@main
struct Phone {
    static func main() async throws {
        guard let issuer = URL(string: "http://127.0.0.1:8080") else { return }
        let authenticator = try await Authenticator(
            issuer: issuer, app: AppDescription(name: "Phone", version: "1.0", deviceName: "My phone"),
            vault: FileVault(at: URL(filePath: "phone-data")))
        if await authenticator.enrollments.isEmpty {
            print("The text of the ticket:")
            let enrollment = try await authenticator.enroll(with: .ticket(readLine() ?? ""))
            print("Enrolled \(enrollment.id), fingerprint \(enrollment.fingerprint)")
        }
        for await pending in authenticator.challenges() {
            let question = try await pending.open()
            print("\(question.client.name) asks: \(question.message)")
            for detail in question.details { print("\(detail.label): \(detail.value)") }
        }
    }
}
