import CountersignDelivery
import NIOCore
import StorageTestSupport
import Testing

@Suite("Private addresses are refused unless allowed")
struct ReachTests {
    /// Spec: IANA IPv4 Special-Purpose Address Registry, IANA IPv6 Special-Purpose Address Registry.
    @Test(
        "RFC 6890: what is not public is not reached, in whatever form it comes",
        arguments: [
            "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255", "169.254.169.254",
            "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.0.1", "192.168.255.255",
            "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1",
            "255.255.255.255", "::", "::2", "::10.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::ffff:0.0.0.0",
            "64:ff9b::10.0.0.1", "64:ff9b::127.0.0.1", "64:ff9b:1::1", "100::1", "2001::1", "2001:1ff:ffff::",
            "2001:db8::1", "2002:a00:1::", "3fff::1", "3fff:fff:ffff::", "4000::1", "5f00::1", "fc00::1", "fdff::1",
            "fe80::1", "febf::1", "fec0::1", "ff02::1",
        ])
    func notPublic(_ text: String) throws {
        let address = try SocketAddress(ipAddress: text, port: 443)
        #expect(!OutboundAddressPolicy.publicAddresses.allows(address))
        #expect(!OutboundAddressPolicy.publicAddressesAndLoopback.allows(address))
        #expect(OutboundAddressPolicy.allAddresses.allows(address))
    }

    @Test(
        "RFC 6890: loopback is this machine, in development mode alone",
        arguments: ["127.0.0.1", "127.255.255.255", "::1", "::ffff:127.0.0.1"])
    func loopback(_ text: String) throws {
        let address = try SocketAddress(ipAddress: text, port: 443)
        #expect(!OutboundAddressPolicy.publicAddresses.allows(address))
        #expect(OutboundAddressPolicy.publicAddressesAndLoopback.allows(address))
        #expect(OutboundAddressPolicy.allAddresses.allows(address))
    }

    @Test(
        "RFC 6890: what lies beside the networks that are not public is",
        arguments: [
            "1.0.0.0", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
            "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.0.3.0",
            "192.167.255.255",
            "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255", "::ffff:1.1.1.1", "64:ff9b::8.8.8.8",
            "2000::1", "2001:200::1", "2001:db7::1", "2001:db9::1", "2003::1", "3ffe::1", "3fff:1000::1",
            "2606:4700::1",
        ])
    func publicAddresses(_ text: String) throws {
        let address = try SocketAddress(ipAddress: text, port: 443)
        #expect(OutboundAddressPolicy.publicAddresses.allows(address))
        #expect(OutboundAddressPolicy.publicAddressesAndLoopback.allows(address))
    }

    @Test("A socket in the file system is nobody's address")
    func socketFile() throws {
        let address = try SocketAddress(unixDomainSocketPath: "/run/x")
        #expect(!OutboundAddressPolicy.publicAddressesAndLoopback.allows(address))
    }

    @Test("Nothing is said to a receiver at such an address, named by number or by name, and it is tried again later")
    func connection() async throws {
        try await DeliveryScene.with(reach: .publicAddresses) { scene in
            try await Receiver.with(
                { _ in .status(200) },
                { receiver, base in
                    // Many at once: connections that are being made must end as well as one alone.
                    for number in 0..<48 {
                        let host = number.isMultiple(of: 2) ? base : base.replacing("127.0.0.1", with: "localhost")
                        try await scene.enqueue(to: host + "/hook")
                    }
                    for _ in 0..<3 { try await scene.worker().deliverDue() }
                    let error = "last_error = 'the receiver''s address is not public'"
                    let tried = "state = 'waiting' AND attempts = 1 AND payload IS NOT NULL AND \(error)"
                    #expect(try await scene.world.count("outbox", where: tried) == 48)
                    #expect(receiver.calls.isEmpty)
                })
        }
    }
}
