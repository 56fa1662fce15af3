import CountersignCore
import CountersignWire
import Encodings
import HTTPTypes
import Hummingbird

/// The operator's route for test messages.
extension NativeAPI {
    func addMessages(to routes: inout NativeRoutes) {
        routes.administrator(.post, "/v1/admin/messages") { [self] caller, incoming in
            let request = try TestMessageRequest(incoming.json())
            let key = try incoming.idempotencyKey(of: caller.client.id, ports.hasher)
            let result = try await SendTestMessage.send(
                request.template, to: request.address, in: request.language, by: caller, idempotency: key, ports: ports)
            return try reply(result, status: 202, json)
        }
    }
}

/// The body of `POST /v1/admin/messages`.
private struct TestMessageRequest {
    let template: MessageTemplate
    let address: PersonalAddress
    let language: LanguageTag?

    init(_ json: JSONValue) throws(JSONShapeError) {
        var members = try JSONMembers(json)
        let email = try members.optional("email", "a mail address") { $0.string.flatMap { EmailAddress($0) } }
        let phone = try members.optional("phone", "a telephone number with + and the country's code") {
            $0.string.flatMap { PhoneNumber($0) }
        }
        template =
            try members.optional("template", "\"test\" or \"code\"") {
                $0.string.flatMap { MessageTemplate(rawValue: $0) }
            } ?? .test
        language = try members.optional("language", "a language, such as de or pt-BR") {
            $0.string.flatMap { LanguageTag($0) }
        }
        try members.refuseUnknown()
        switch (email, phone) {
        case (let email?, nil): address = .email(email)
        case (nil, let phone?): address = .phone(phone)
        case (nil, nil): throw .missing(pointer: "/email")
        case (_?, _?): throw .invalid(pointer: "/phone", expected: "absent where email is present")
        }
    }
}
