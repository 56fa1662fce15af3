import CountersignWire
import Encodings
import Testing

@Suite("Where a device is reached by push notifications")
struct PushRegistrationTests {
    private func json(_ text: String) throws -> JSONValue { try JSONValue(parsing: Array(text.utf8)) }

    @Test(
        "A registration is read as it was written",
        arguments: [
            #"{"service":"apns","app":"com.example.bank","environment":"production","token":"00fFaA"}"#,
            #"{"service":"apns","app":"a","environment":"development","token":"ab"}"#,
            #"{"service":"fcm","app":"com.example.bank","token":"dQw4:APA91b_-x"}"#,
            #"{"service":"local","app":"countersign","token":"1:00112233445566778899aabbccddeeff"}"#,
        ])
    func reads(_ text: String) throws {
        #expect(try PushRegistration(try json(text), at: "").json == json(text))
    }

    @Test(
        "What a service could not mean is refused where it stands",
        arguments: [
            (#"{}"#, JSONShapeError.missing(pointer: "/push/service")),
            (#"{"service":"apns","token":"ab","environment":"production"}"#, .missing(pointer: "/push/app")),
            (#"{"service":"apns","app":"a","token":"ab"}"#, .missing(pointer: "/push/environment")),
            (#"{"service":"fcm","app":"a"}"#, .missing(pointer: "/push/token")),
            (
                #"{"service":"sms","app":"a","token":"ab"}"#,
                .invalid(pointer: "/push/service", expected: "\"apns\" or \"fcm\"")
            ),
            (
                #"{"service":"apns","app":"a","environment":"sandbox","token":"ab"}"#,
                .invalid(pointer: "/push/environment", expected: "\"production\" or \"development\"")
            ),
            (
                #"{"service":"apns","app":"a b","environment":"production","token":"ab"}"#,
                .invalid(pointer: "/push/app", expected: "a bundle identifier or package name")
            ),
            (
                #"{"service":"fcm","app":"a","environment":"production","token":"ab"}"#,
                .unknownMember(pointer: "/push/environment")
            ),
        ])
    func refuses(_ text: String, _ expected: JSONShapeError) throws {
        let value = try json(text)
        #expect(throws: expected) { try PushRegistration(value, at: "/push") }
    }

    @Test(
        "A token goes into a path of the service's: only what its tokens are made of is one",
        arguments: ["", "a", "abc", "../device", "ab%2f", "ag", "ab ", "ab\n", String(repeating: "a", count: 402)])
    func tokens(_ token: String) throws {
        let app = try #require(AppID("com.example"))
        #expect(PushRegistration(service: .apns(.production), app: app, token: Secret(token)) == nil)
        for token in ["", "a/b", "a b", "ä", String(repeating: "a", count: 4097)] {
            #expect(PushRegistration(service: .fcm, app: app, token: Secret(token)) == nil)
        }
    }

    @Test(
        "An update changes what it names alone",
        arguments: [
            #"{}"#, #"{"push":null}"#, #"{"push":{"service":"fcm","app":"a","token":"t"}}"#,
            #"{"device":{"name":"Ada's phone","app":"Acme 3.1"}}"#, #"{"versions":[1,2]}"#,
        ])
    func updates(_ text: String) throws {
        #expect(try EnrollmentUpdate(try json(text)).json == json(text))
    }

    @Test("RFC 9562 §4: an id is a UUID for services that want one")
    func uuid() throws {
        let id = EventID(at: Timestamp(milliseconds: 0x0102_0304_0506), random: [7, 8, 9, 10, 11, 12, 13, 14, 15, 255])
        #expect(id.uuid == "01020304-0506-0708-090a-0b0c0d0e0fff")
    }
}
