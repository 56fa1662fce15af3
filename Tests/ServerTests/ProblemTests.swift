import CountersignWire
import Encodings
import NIOHTTP1
import OpenPGP
import ServerTestSupport
import Testing

@testable import CountersignServer

@Suite("RFC 9457: errors become problems")
struct ProblemTests {
    @Test(
        "Bytes that are not JSON have the code of what is wrong with them",
        arguments: [
            (.invalidUTF8, .invalidUTF8), (.unexpected(offset: 1), .malformedJSON),
            (.trailingData(offset: 1), .malformedJSON), (.tooDeep(offset: 1), .malformedJSON),
            (.duplicateMember(name: "a"), .malformedJSON), (.unpairedSurrogate(offset: 1), .malformedJSON),
            (.numberOutOfRange(offset: 1), .malformedJSON),
        ] as [(JSONSyntaxError, ProblemCode)])
    func syntax(_ error: JSONSyntaxError, _ code: ProblemCode) {
        #expect(ProblemDetails(syntax: error).knownCode == code)
        #expect(ProblemDetails(syntax: error).status == 400)
    }

    @Test(
        "A value of the wrong shape is named by its pointer",
        arguments: [
            (.missing(pointer: "/a"), .missingMember), (.invalid(pointer: "/a", expected: "a string"), .invalidMember),
            (.unknownMember(pointer: "/a"), .unknownMember),
        ] as [(JSONShapeError, ProblemCode)])
    func shape(_ error: JSONShapeError, _ code: ProblemCode) {
        #expect(ProblemDetails(shape: error).knownCode == code)
        #expect(ProblemDetails(shape: error)["pointer"] == "/a")
        #expect(ProblemDetails(shape: error).status == 422)
    }

    @Test("A full disk is told with its reason, and may be tried again")
    func fullDisk() {
        let problem = ProblemDetails(failure: .noRoom)
        #expect(problem.knownCode == .unavailable && problem.status == 503)
        #expect(problem.detail == "there is no room on the database's disk")
    }

    @Test(
        "A stranger's enrollment request that is not UTF-8 once filled the stack; it is refused, and the server lives")
    func strangersBytes() async throws {
        try await Scene.with { scene in
            let body: [UInt8] = Array("{\"ticket\":\"".utf8) + [0xFF] + Array("\"}".utf8)
            let stranger = "\(scene.phone.certificate.fingerprint)".replacing("A", with: "B")
            let headers = try await scene.phone.signature(.POST, "/v1/enrollments", body: body, keyID: stranger)
            let reply = try await scene.server.send(.POST, "/v1/enrollments", headers: headers, body: body)
            expectRefusal(reply, 400, "invalid_utf8")
            #expect(try await scene.server.send(.GET, "/healthz").status == 200)
        }
    }
}
