import CountersignServer
import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import Testing

@Suite("The OpenAPI document is what the server does")
struct ContractTests {
    private let contract = Contract.served
    /// Replies that any request may get, and that no operation repeats.
    private static let everywhere = [
        ("NotFound", "404"), ("MethodNotAllowed", "405"), ("MalformedRequest", "400"), ("BodyTooSlow", "408"),
    ]

    @Test("Every route is documented with its query parameters, and everything documented is a route")
    func routes() async throws {
        let routes = try await TestServer.with { $0.routes }
        let served = routes.map { route in
            let segments = route.path.split(separator: "/").map { $0.hasPrefix(":") ? "{\($0.dropFirst())}" : "\($0)" }
            return "\(route.method) /\(segments.joined(separator: "/")) \(route.query.sorted())"
        }
        let documented = contract.operations.map { "\($0.method) \($0.path) \($0.parameterNames(in: "query"))" }
        #expect(!served.isEmpty)
        #expect(Set(served) == Set(documented))
        #expect(served.count == documented.count)
    }

    @Test("The parameters of a path are those that the path names")
    func pathParameters() {
        for operation in contract.operations {
            let named = operation.path.split(separator: "/").filter { $0.hasPrefix("{") }
            #expect(operation.parameterNames(in: "path") == named.map { String($0.dropFirst().dropLast()) }.sorted())
        }
    }

    @Test("Every code has a schema with its status, and stands in the responses of that status alone")
    func codes() throws {
        var documented: [String: Set<String>] = [:]
        var responses = contract.operations.flatMap { $0.value["responses"]?.object?.members ?? [] }
        for (name, status) in Self.everywhere {
            responses.append((status, ["$ref": .string("#/components/responses/\(name)")]))
        }
        for response in responses {
            let content = contract.checker.resolved(response.value)?["content"]
            guard let schema = content?["application/problem+json"]?["schema"] else { continue }
            for alternative in schema["oneOf"]?.array ?? [schema] {
                let properties = try #require(contract.checker.resolved(alternative)?["properties"])
                let code = try #require(properties["code"]?["const"]?.string)
                documented[code, default: []].insert(response.name)
                #expect(properties["status"]?["const"]?.integer.map { "\($0)" } == response.name, "\(code)")
            }
        }
        #expect(Set(documented.keys) == Set(ProblemCode.allCases.map(\.rawValue)))
        for code in ProblemCode.allCases {
            #expect(documented[code.rawValue] == ["\(code.meaning.status)"], "\(code)")
            let title = contract.document["components"]?["schemas"]?.object?.members.compactMap { schema in
                schema.value["properties"]?["code"]?["const"] == .string(code.rawValue)
                    ? schema.value["properties"]?["title"]?["const"]?.string : nil
            }
            #expect(title == [code.meaning.title])
        }
    }

    @Test("Every example fits the schema it stands beside")
    func examples() {
        var count = 0
        func look(at value: JSONValue, _ place: String) {
            if let schema = value["schema"], let example = value["example"] {
                count += 1
                #expect(contract.checker.faults(in: example, by: schema).isEmpty, "\(place)")
            }
            if value["type"] != nil, let examples = value["examples"]?.array {
                for example in examples {
                    count += 1
                    #expect(contract.checker.faults(in: example, by: value).isEmpty, "\(place)")
                }
            }
            for member in value.object?.members ?? [] { look(at: member.value, "\(place)/\(member.name)") }
            for (index, element) in (value.array ?? []).enumerated() { look(at: element, "\(place)/\(index)") }
        }
        look(at: contract.document, "")
        #expect(count > 60)
    }

    @Test("Every operation says who may call it, and every schema of an object is closed")
    func closed() throws {
        for operation in contract.operations {
            #expect(operation.value["security"] != nil, "\(operation.method) \(operation.path)")
            #expect(operation.value["operationId"]?.string != nil, "\(operation.method) \(operation.path)")
        }
        let schemas = try #require(contract.document["components"]?["schemas"]?.object?.members)
        for schema in schemas where schema.value["type"] == "object" && schema.name != "Problem" {
            #expect(schema.value["additionalProperties"] == false, "\(schema.name)")
        }
    }

    @Test("The server serves the document")
    func served() async throws {
        try await TestServer.with { server in
            let reply = try await server.send(.GET, "/v1/openapi.json")
            #expect(reply.headers["content-type"] == "application/json")
            #expect(reply.json == Contract.served.document)
            #expect(reply.json["openapi"] == "3.1.0")
        }
    }
}

@Suite("The check of replies refuses what is not in the contract")
struct ContractCheckTests {
    private static let checker = SchemaChecker(document: [
        "components": ["schemas": ["Name": ["type": "string", "pattern": "^[a-z]+$"]]]
    ])

    @Test(
        "A value that does not fit is refused",
        arguments: [
            (["type": "string"], 1), (["type": "integer"], .double(1.5)), (["type": "boolean"], "true"),
            (["type": ["string", "null"]], false), (["type": "object"], []), (["type": "array"], [:]),
            (["type": "null"], 0), (["const": "a"], "b"), (["enum": ["a", "b"]], "c"),
            (["pattern": "^a$"], "ab"), (["minLength": 1], ""), (["maxLength": 1], "ab"),
            (["minimum": 1], 0), (["maximum": 1], 2), (["items": ["type": "string"]], ["a", 1]),
            (["minItems": 1], []), (["maxItems": 1], [1, 2]), (["uniqueItems": true], [1, 1]),
            (["required": ["a"]], ["b": 1]), (["properties": ["a": ["type": "string"]]], ["a": 1]),
            (["patternProperties": ["^a": ["const": 1]]], ["ab": 2]),
            (["patternProperties": ["^a": [:]], "additionalProperties": false], ["b": 1]),
            (["maxProperties": 1], ["a": 1, "b": 1]),
            (["properties": ["a": [:]], "additionalProperties": false], ["b": 1]),
            (["oneOf": [["const": "a"], ["const": "b"]]], "c"), (["oneOf": [["type": "string"], ["const": "b"]]], "b"),
            (["$ref": "#/components/schemas/Name"], "A"), (["$ref": "#/components/schemas/Nothing"], "a"),
            (["unheardOf": true], "a"),
        ] as [(JSONValue, JSONValue)])
    func refused(schema: JSONValue, value: JSONValue) {
        #expect(Self.checker.faults(in: value, by: schema).count == 1)
    }

    @Test(
        "A value that fits is accepted",
        arguments: [
            (["type": "string"], "a"), (["type": "number"], 1), (["type": ["string", "null"]], .null),
            (["enum": ["a", .null]], .null), (["pattern": "^a$", "maxLength": 1], "a"), (["pattern": "^a$"], 1),
            (["minimum": 1, "maximum": 1], 1), (["items": ["type": "string"], "minItems": 1], ["a"]),
            (
                ["patternProperties": ["^a": ["const": 1]], "additionalProperties": false, "maxProperties": 1],
                ["ab": 1]
            ),
            (["properties": ["a": ["const": 1]], "required": ["a"], "additionalProperties": false], ["a": 1]),
            (["oneOf": [["const": "a"], ["const": "b"]]], "b"), (["$ref": "#/components/schemas/Name"], "abc"),
            (["description": "anything"], []),
        ] as [(JSONValue, JSONValue)])
    func accepted(schema: JSONValue, value: JSONValue) {
        #expect(Self.checker.faults(in: value, by: schema) == [])
    }

    private func reply(
        _ method: HTTPMethod = .GET, _ path: String = "/healthz", _ status: Int = 200,
        type: String = "application/json", header: (String, String) = ("cache-control", "no-store"),
        body: JSONValue = ["status": "ok"]
    ) -> Reply {
        var headers = ["content-type": type, "x-request-id": "req_0123456789abcdef", "cache-control": "no-store"]
        headers[header.0] = header.1
        return Reply(method: method, path: path, status: status, headers: headers, body: body.encoded)
    }

    @Test("A right reply passes, and each wrong one is told")
    func replies() {
        func faults(_ reply: Reply) -> Int { Contract.served.faults(of: reply, requestBody: nil).count }
        let notFound: JSONValue = [
            "type": "http://127.0.0.1/docs/errors#not_found", "title": "There is nothing here", "status": 404,
            "code": "not_found", "request_id": "req_0123456789abcdef",
        ]
        let problem = ProblemDetails.mediaType
        #expect(faults(reply()) == 0)
        #expect(faults(reply(body: ["status": "fine"])) == 1)
        #expect(faults(reply(body: ["status": "ok", "more": 1])) == 1)
        #expect(faults(reply(.GET, "/healthz", 201)) == 1)
        #expect(faults(reply(type: "text/plain")) == 1)
        #expect(faults(reply(header: ("x-request-id", "7 8"))) == 1)
        #expect(faults(reply(header: ("cache-control", "public"))) == 1)
        #expect(faults(reply(.GET, "/nowhere", 404, type: problem, body: notFound)) == 0)
        #expect(faults(reply(.GET, "/nowhere")) > 0)
        #expect(faults(reply(.GET, "/healthz", 404, type: problem, body: notFound)) == 1)
        #expect(faults(reply(.POST, "/healthz", 404, type: problem, body: notFound)) > 0)
        #expect(faults(reply(.GET, "/v1/challenges/x", 404, type: problem, body: notFound)) > 0)
        #expect(faults(reply(.GET, "/healthz?more=1")) == 1)
    }
}
