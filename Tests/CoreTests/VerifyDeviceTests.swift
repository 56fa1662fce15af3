import CountersignWire
import Crypto
import Encodings
import StorageTestSupport
import OpenPGP
import Testing

@testable import CountersignCore

@Suite("Which device calls")
struct VerifyDeviceTests {
    private func scene() async throws -> (world: World, client: Client, device: TestDevice) {
        let world = try await World()
        let client = try await world.makeClient(waives: true).client
        let user = try await world.makeUser(of: client)
        return (world, client, try await world.makeDevice(of: user, by: client))
    }

    @Test(
        "Created may be off by 60 seconds and not by 61, whatever the milliseconds", arguments: [0, 1, 999])
    func window(_ milliseconds: Int64) async throws {
        let (world, _, device) = try await scene()
        world.time.advance(milliseconds: milliseconds)
        let now = world.time.now
        for (offset, isLetIn) in [(-61, false), (-60, true), (0, true), (60, true), (61, false)] as [(Int64, Bool)] {
            let request = try await device.request(created: now.seconds + offset)
            let expected = isLetIn ? "let in" : "clock skew \(now.milliseconds)"
            #expect(try await VerifyDevice.verify(request, ports: world.ports).summary == expected)
        }
        for created: Int64 in [0, 999_999_999_999_999] {
            let request = try await device.request(created: created)
            #expect(
                try await VerifyDevice.verify(request, ports: world.ports).summary == "clock skew \(now.milliseconds)")
        }
    }

    @Test("Only a valid signature is told the server's time")
    func signatureFirst() async throws {
        let (world, _, device) = try await scene()
        let late = try await device.request(created: world.time.now.seconds - 61, signedBy: P256.Signing.PrivateKey())
        #expect(try await VerifyDevice.verify(late, ports: world.ports).summary == "proof invalid")
        let moved = try await device.request(arrivingAt: "/v1/enrollments/self/challenges")
        #expect(try await VerifyDevice.verify(moved, ports: world.ports).summary == "proof invalid")
    }

    @Test("A key id that names no enrollment is unknown, whatever it looks like")
    func unknown() async throws {
        let (world, client, device) = try await scene()
        let unused = try await world.makeTicket(for: device.invitation.user, by: client)
        for keyID in ["\(unused.enrollment)", "\(device.invitation.user)", "\(device.certificate.fingerprint)", ""] {
            let request = try await device.request(keyID: keyID)
            #expect(try await VerifyDevice.verify(request, ports: world.ports).summary == "unknown enrollment")
        }
    }

    @Test("One device cannot call as another")
    func impersonation() async throws {
        let (world, client, device) = try await scene()
        let other = try await world.makeDevice(of: device.invitation.user, by: client)
        let request = try await device.request(keyID: "\(other.enrollment)")
        #expect(try await VerifyDevice.verify(request, ports: world.ports).summary == "proof invalid")
    }

    @Test(
        "A removed device's valid signature gets the notice, an invalid one does not",
        arguments: [false, true])
    func removed(isUnknown: Bool) async throws {
        let (world, client, device) = try await scene()
        let call = try await device.call()
        // A node that does not have the device's key in memory does the same.
        let ports = isUnknown ? world.ports(loggingTo: world.ports.logger) : world.ports
        let user = device.invitation.user
        #expect(
            try await RemoveEnrollment.remove(device.enrollment, of: .id(user), by: client.caller, ports: world.ports)
                == .removed)
        let expected = "deregistered \(device.enrollment) removed_by_client"
        let forged = try await device.request(signedBy: P256.Signing.PrivateKey())
        #expect(try await VerifyDevice.verify(forged, ports: ports).summary == "proof invalid")
        guard case .refused(let refusal) = try await ShowOwnEnrollment.show(to: call, ports: ports) else {
            Issue.record("a removed device was let in")
            return
        }
        #expect(refusal.summary == expected)
        // From then on its calls end before they take any memory for their nonces.
        #expect(try await VerifyDevice.verify(try await device.request(), ports: ports).summary == expected)
    }

    @Test("A nonce is good once for each device")
    func replay() async throws {
        let (world, client, device) = try await scene()
        let other = try await world.makeDevice(of: device.invitation.user, by: client)
        let nonce = Hex.encode(world.random.bytes(16))
        let calls = [
            try await device.call(nonce: nonce), try await device.call(nonce: nonce),
            try await other.call(nonce: nonce),
        ]
        var summaries: [String] = []
        for call in calls {
            switch try await ShowOwnEnrollment.show(to: call, ports: world.ports) {
            case .enrollment(let enrollment): summaries.append("\(enrollment.id)")
            case .refused(let refusal): summaries.append(refusal.summary)
            }
        }
        #expect(summaries == ["\(device.enrollment)", "nonce replayed", "\(other.enrollment)"])
    }

    @Test("A captured request is refused for as long as its signature is in time, however often the store is swept")
    func replayThroughTheWindow() async throws {
        let (world, _, device) = try await scene()
        let start = world.time.now.seconds
        for created in [start - 60, start, start + 60] {
            let request = try await device.request(created: created)
            guard case .verified(let call) = try await VerifyDevice.verify(request, ports: world.ports),
                case .enrollment = try await ShowOwnEnrollment.show(to: call, ports: world.ports)
            else {
                Issue.record("the first use was refused")
                return
            }
            while case .verified(let replayed) = try await VerifyDevice.verify(request, ports: world.ports) {
                let now = world.time.now
                _ = try await world.ports.store.commit { try $0.retention.sweep(now: now, limit: 1000) }
                let result = try await ShowOwnEnrollment.show(to: replayed, ports: world.ports)
                guard case .refused(.nonceReplayed) = result else {
                    Issue.record("replayed \(now.seconds - created) seconds after")
                    return
                }
                world.time.advance(milliseconds: 500)
            }
            #expect(world.time.now.milliseconds == (created + 61) * 1000)
            world.time.set(Timestamp(seconds: start))
        }
    }

    @Test("A replay that is verified at the last moment is still refused when its work is done after a sweep")
    func replayAcrossTheEdge() async throws {
        let (world, _, device) = try await scene()
        let request = try await device.request()
        let first = try await VerifyDevice.verify(request, ports: world.ports).get()
        guard case .enrollment = try await ShowOwnEnrollment.show(to: first, ports: world.ports) else {
            Issue.record("the first use was refused")
            return
        }
        world.time.advance(milliseconds: 60_999)
        let replayed = try await VerifyDevice.verify(request, ports: world.ports).get()
        // The work waits behind others for a while, and maintenance goes by.
        world.time.advance(seconds: 10)
        let now = world.time.now
        _ = try await world.ports.store.commit { try $0.retention.sweep(now: now, limit: 1000) }
        guard case .refused(.nonceReplayed) = try await ShowOwnEnrollment.show(to: replayed, ports: world.ports) else {
            Issue.record("the replay was let in")
            return
        }
    }

    @Test("A server whose clock is an hour ahead takes nothing away that others go by")
    func sweptByAClockAhead() async throws {
        let (world, _, device) = try await scene()
        let request = try await device.request()
        let first = try await VerifyDevice.verify(request, ports: world.ports).get()
        guard case .enrollment = try await ShowOwnEnrollment.show(to: first, ports: world.ports) else {
            Issue.record("the first use was refused")
            return
        }
        _ = try await WrongCredentials().count(client: "c", address: nil, ports: world.ports)
        let ahead = world.time.now.adding(seconds: 3600)
        _ = try await world.ports.store.commit { try $0.retention.sweep(now: ahead, limit: 1000) }
        #expect(try await world.count("attempts") == 1)
        let replayed = try await VerifyDevice.verify(request, ports: world.ports).get()
        guard case .refused(.nonceReplayed) = try await ShowOwnEnrollment.show(to: replayed, ports: world.ports) else {
            Issue.record("the replay was let in")
            return
        }
    }

    @Test("Another authenticator of calls brings its own guard, which is spent with the work and lets no call in twice")
    func otherGuard() async throws {
        let (world, client, device) = try await scene()
        let enrollment = try #require(try await world.ports.store.read { try $0.enrollments.find(device.enrollment) })
        let until = world.time.now.adding(seconds: 60)
        let call = DeviceCall(
            enrollment: enrollment.id, of: enrollment.user,
            replayGuard: ReplayGuard("assertion 1", of: "another \(enrollment.id)", until: until))
        #expect(try await ShowOwnEnrollment.show(to: call, ports: world.ports) == .enrollment(enrollment))
        #expect(try await ShowOwnEnrollment.show(to: call, ports: world.ports) == .refused(.nonceReplayed))
        // Its text is its own: the same one of a signed request is another.
        let signed = try await device.call(nonce: "assertion 1      ")
        #expect(try await ShowOwnEnrollment.show(to: signed, ports: world.ports) == .enrollment(enrollment))
        let last = DeviceCall(
            enrollment: enrollment.id, of: enrollment.user,
            replayGuard: ReplayGuard("assertion 2", of: "another \(enrollment.id)", until: until))
        _ = try await RemoveEnrollment.remove(
            device.enrollment, of: .id(device.invitation.user), by: client.caller, ports: world.ports)
        guard case .refused(.deregistered) = try await ShowOwnEnrollment.show(to: last, ports: world.ports) else {
            Issue.record("a removed device was let in")
            return
        }
    }
}
