import CountersignWire
import Encodings
import Testing

@Suite("RFC 9457: problems")
struct ProblemTests {
    private static let statuses: [Int: [ProblemCode]] = [
        400: [.malformedRequest, .malformedJSON, .invalidUTF8, .invalidParameter, .invalidIdempotencyKey],
        401: [
            .unauthorized, .signatureMissing, .signatureInvalid, .clockSkew, .nonceReplayed, .unknownEnrollment,
        ],
        403: [
            .enrollmentSuspended,
            .changeNotAuthorized, .rightMissing, .clientDisabled, .deviceDeregistered, .scopeMissing, .signInTooOld,
            .signInTooWeak, .ticketInvalid, .ticketUsed,
            .ticketExpired,
            .userNotLinked, .enrollmentNotConfirmed, .enrollmentBlocked,
        ],
        404: [
            .notFound, .typeNotFound, .userNotFound, .enrollmentNotFound, .challengeNotFound, .noReceipt,
            .clientNotFound, .messageNotFound, .noCode, .keyUseNotFound, .passkeyNotFound, .addressNotFound,
        ],
        405: [.methodNotAllowed],
        409: [
            .externalIDTaken, .addressTaken, .noEnrollment, .alreadyEnded, .enrollmentWaiting, .alreadyEnrolled,
            .messageOver,
            .transportNotSetUp, .askingLocked, .pinLocked, .tooManyDevices, .alreadyClaimed, .methodMissing,
            .customNotRegistered, .pushTokenInUse, .certificateFull, .typeInUse, .rotationUnderWay,
            .issuerCertificateFull,
        ],
        408: [.bodyTooSlow],
        413: [.bodyTooLarge],
        415: [.unsupportedMediaType],
        422: [
            .unknownMember, .missingMember, .invalidMember, .textRefused, .idempotencyConflict, .notAllowedByType,
            .callbackNotRegistered, .certificateInvalid, .answerInvalid, .pinIncorrect, .changeInvalid, .codeInvalid,
            .codeExpired, .customRetry, .customFailed, .returnNotRegistered, .returnCodeInvalid, .codeIncorrect,
            .logoRefused, .contrastTooLow, .captchaMissing, .captchaRefused,
        ],
        429: [.tooManyWaits, .rateLimited, .tooManyPending, .tooManyAsks, .tooManyResends, .tooManyTexts],
        500: [.internalError],
        503: [.unavailable, .customUnavailable, .captchaUnavailable],
    ]

    @Test("Every code has the status that clients rely on")
    func statuses() {
        for (status, codes) in Self.statuses {
            for code in codes { #expect(code.meaning.status == status, "\(code.rawValue)") }
        }
        #expect(Set(Self.statuses.values.flatMap { $0 }) == Set(ProblemCode.allCases))
        #expect(Self.statuses.values.flatMap { $0 }.count == ProblemCode.allCases.count)
    }

    @Test("Every code is a stable word with a title and a cure of its own", arguments: ProblemCode.allCases)
    func meanings(code: ProblemCode) throws {
        #expect(code.rawValue.wholeMatch(of: /[a-z]+(_[a-z0-9]+)*/) != nil)
        #expect(ProblemCode(rawValue: code.rawValue) == code)
        let meaning = code.meaning
        #expect(meaning.title.first?.isUppercase == true && meaning.title.last != ".")
        #expect(meaning.cure.last == "." && meaning.cure.first?.isUppercase == true)
        _ = try DisplayLine(meaning.title)
        _ = try DisplayLine(meaning.cure)
        // The documentation's link: https://…/docs/errors#code.
        #expect(try #require(URLFragment(code.rawValue)).text == code.rawValue)
    }

    /// A text that stands behind `#` as it is.
    private struct URLFragment {
        let text: String

        init?(_ text: String) {
            guard
                text.utf8.allSatisfy({
                    $0 == UInt8(ascii: "_") || (0x61...0x7A).contains($0) || (0x30...0x39).contains($0)
                })
            else { return nil }
            self.text = text
        }
    }

    @Test("No two codes have the same word or the same title")
    func unique() {
        #expect(Set(ProblemCode.allCases.map(\.rawValue)).count == ProblemCode.allCases.count)
        #expect(Set(ProblemCode.allCases.map(\.meaning.title)).count == ProblemCode.allCases.count)
    }

    @Test("Repeating helps exactly where waiting or a right clock does")
    func retrying() {
        let retried = ProblemCode.allCases.filter(\.meaning.retryHelps)
        let expected: Set<ProblemCode> = [
            .tooManyWaits, .rateLimited, .tooManyPending, .tooManyAsks, .internalError, .unavailable, .clockSkew,
            .customUnavailable, .captchaUnavailable, .tooManyTexts, .bodyTooSlow,
        ]
        #expect(Set(retried) == expected)
    }

    @Test("RFC 9457 §3: a problem as JSON, and read again", arguments: ProblemCode.allCases)
    func roundTrip(code: ProblemCode) throws {
        let issuer = try #require(Issuer("https://login.example.com"))
        let problem = ProblemDetails(code, detail: "this \"time\"", members: ["retry_after": 7])
        let json = problem.json(issuer: issuer, requestID: "req_1")
        #expect(json["type"] == .string("https://login.example.com/docs/errors#\(code.rawValue)"))
        #expect(json["request_id"] == "req_1" && json["retry_after"] == 7)
        let read = try #require(ProblemDetails(try JSONValue(parsing: json.encoded)))
        #expect(read.knownCode == code && read.code == code.rawValue)
        #expect(read.status == code.meaning.status && read.title == code.meaning.title)
        #expect(read.detail == "this \"time\"" && read.requestID == "req_1")
        #expect(read["retry_after"] == 7 && read["nothing"] == nil)
        #expect(read.json(issuer: issuer, requestID: "req_1") == json)
        #expect(ProblemDetails.mediaType == "application/problem+json")
    }

    @Test("A problem without detail has no such member, and tells a person what to do")
    func plain() throws {
        let issuer = try #require(Issuer("https://login.example.com"))
        let problem = ProblemDetails(.noReceipt)
        #expect(
            problem.json(issuer: issuer, requestID: "r").object?.members.map(\.name)
                == ["type", "title", "status", "code", "request_id"])
        #expect(problem.description == "\(ProblemCode.noReceipt.meaning.title)\n\(ProblemCode.noReceipt.meaning.cure)")
        #expect(
            ProblemDetails(.noReceipt, detail: "chl_1").description.hasPrefix("The challenge has no receipt: chl_1\n"))
    }

    @Test("A code of a newer server is kept, and known to be unknown")
    func newerCode() throws {
        let read = try #require(ProblemDetails(["code": "brand_new", "status": 418, "title": "New", "more": [1]]))
        #expect(read.code == "brand_new" && read.knownCode == nil && read.status == 418)
        #expect(read["more"] == [1])
        #expect(read.description == "New")
    }

    @Test("What is no problem is not read as one, and an absurd status does no harm")
    func malformed() throws {
        for json in [
            .null, [], "x", 1, .members([:]), ["code": "a", "status": 400], ["code": "a", "title": "b"],
            ["status": 400, "title": "b"], ["code": 1, "status": 400, "title": "b"],
            ["code": "a", "status": "400", "title": "b"], ["code": "a", "status": 400, "title": .null],
            ["code": "a", "status": .double(400.5), "title": "b"],
        ] as [JSONValue] {
            #expect(ProblemDetails(json) == nil, "\(json.pretty)")
        }
        for status in [Int64.min, -1, 0, Int64.max] {
            let read = ProblemDetails(["code": "a", "status": .integer(status), "title": "b"])
            #expect(read?.status == Int(status))
        }
        let odd = ProblemDetails(["code": "a", "status": 400, "title": "b", "detail": 1, "request_id": []])
        #expect(odd?.detail == nil && odd?.requestID == nil)
    }

    @Test("A value of a wrong shape is named by its pointer")
    func shapes() {
        let missing = ProblemDetails(shape: JSONShapeError.missing(pointer: "/a/0/b"))
        #expect(missing.knownCode == .missingMember && missing["pointer"] == "/a/0/b")
        let unknown = ProblemDetails(shape: JSONShapeError.unknownMember(pointer: "/x"))
        #expect(unknown.knownCode == .unknownMember && unknown["pointer"] == "/x")
        let invalid = ProblemDetails(shape: JSONShapeError.invalid(pointer: "/y", expected: "a string"))
        #expect(invalid.knownCode == .invalidMember && invalid["pointer"] == "/y")
        #expect(invalid.detail == "/y must be a string")
        let body = ProblemDetails(shape: JSONShapeError.invalid(pointer: "", expected: "an object"))
        #expect(body.detail == "the body must be an object")
    }

    @Test(
        "Bytes that are not JSON have a problem of their own",
        arguments: [
            ("{\"a\":1,\"a\":2}", .malformedJSON), ("{", .malformedJSON), ("{} x", .malformedJSON),
            ("\"\\ud800\"", .malformedJSON), ("1e999", .malformedJSON),
            (String(repeating: "[", count: 33), .malformedJSON),
        ] as [(String, ProblemCode)])
    func syntax(text: String, code: ProblemCode) throws {
        let error = try #require(throws: JSONSyntaxError.self) { try JSONValue(parsing: Array(text.utf8)) }
        let problem = ProblemDetails(syntax: error)
        #expect(problem.knownCode == code && problem.detail != nil)
    }

    @Test("RFC 8259 §8.1: bytes that are not UTF-8 have a code of their own, and do not end the process")
    func invalidUTF8() {
        #expect(ProblemDetails(syntax: JSONSyntaxError.invalidUTF8).knownCode == .invalidUTF8)
    }
}
