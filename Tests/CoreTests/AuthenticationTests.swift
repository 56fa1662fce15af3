import CountersignWire
import Encodings
import StorageTestSupport
import Testing

@testable import CountersignCore

// Spec: RFC 8176 §2, RFC 9068 §2.2.1.
@Suite("What an authentication is called: `acr` and `amr`")
struct AuthenticationTests {
    /// An enrollment whose keys are kept like this.
    private static func device(_ storage: KeyStorage) throws -> Enrollment {
        let usual = try AskScene.enrollment(1)
        return Enrollment(
            id: usual.id, user: usual.user, client: usual.client, state: .active, credential: usual.credential,
            device: DeviceDescription(name: try DisplayLine("Phone"), storage: storage), createdAt: AskScene.now)
    }

    @Test(
        "By a device: its keys, its user, what was carried and the second factor",
        arguments: [
            (AnswerMethod.confirm, ["user", "mca"], Authentication.Strength.device),
            (.pin, ["user", "mca", "pin", "mfa"], .twoFactors), (.biometric, ["user", "mca", "mfa"], .twoFactors),
        ])
    func devices(_ method: AnswerMethod, _ words: [String], _ strength: Authentication.Strength) throws {
        let challenge = try AskScene().decide().challenge
        for (storage, key) in [(KeyStorage.enclave, "hwk"), (.software, "swk")] {
            let device = try Self.device(storage)
            func authentication(isAAL2: Bool = false, isCarried: Bool = true) -> Authentication {
                Authentication(
                    by: challenge, method, on: device, isAAL2: isAAL2, isCarried: isCarried, at: AskScene.now)
            }
            #expect(authentication().methods == [key] + words && authentication().strength == strength)
            #expect(authentication(isCarried: false).methods == [key] + words.filter { $0 != "mca" })
            #expect(authentication(isCarried: false).strength == strength)
            // The label of the type says more than the method, and changes no word of how.
            #expect(authentication(isAAL2: true).strength == .aal2)
            #expect(authentication(isAAL2: true).methods == authentication().methods)
            let alone = Authentication(byItself: device, at: AskScene.now)
            #expect(alone.methods == [key] && alone.strength == .device && alone.evidence.challenge == nil)
        }
    }

    @Test("By a custom authenticator there is no second factor that we vouch for")
    func custom() throws {
        let name = try #require(AuthenticatorName("face"))
        let authentication = Authentication(
            by: try AskScene().decide().challenge, .custom(name), on: try Self.device(.enclave), isAAL2: false,
            at: AskScene.now)
        #expect(authentication.methods == ["hwk", "user", "mca"] && authentication.strength == .device)
    }

    @Test("The values of `acr`, weakest first, and each is read as it was written")
    func values() throws {
        #expect(
            Authentication.Strength.allCases.map(\.rawValue) == [
                "urn:countersign:acr:address", "urn:countersign:acr:device", "urn:countersign:acr:device2",
                "urn:countersign:acr:aal2", "phr", "phrh",
            ])
        #expect(Authentication.Strength.allCases == Authentication.Strength.allCases.sorted())
        let challenge = try AskScene().decide().challenge
        for method in AnswerMethod.standard {
            let made = Authentication(
                by: challenge, method, on: try Self.device(.enclave), isAAL2: true, at: AskScene.now)
            #expect(Authentication(made.json) == made)
        }
    }

    @Test("Where the challenge cannot be read there is no authentication, not one by the device alone")
    func damaged() throws {
        let made = Authentication(
            by: try AskScene().decide().challenge, .confirm, on: try Self.device(.enclave), isAAL2: false,
            at: AskScene.now)
        for damaged in ["x", 1] as [JSONValue] {
            var object = try #require(made.json.object)
            object["challenge"] = damaged
            #expect(Authentication(JSONValue.object(object)) == nil)
        }
    }
}
