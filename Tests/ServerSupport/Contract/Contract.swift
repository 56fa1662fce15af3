import CountersignServer
package import Encodings
import Foundation
import NIOHTTP1

/// The OpenAPI document that the server serves, against which replies are checked.
package struct Contract: Sendable {
    /// The OpenAPI document of this build.
    package static let served: Contract = {
        guard let document = try? JSONValue(parsing: OpenAPIDocument.served) else {
            preconditionFailure("the embedded document is JSON")
        }
        return Contract(document: document)
    }()

    package let document: JSONValue
    /// Checks values against the document's schemas.
    package let checker: SchemaChecker
    package let operations: [Operation]

    /// Creates a contract from a document.
    package init(document: JSONValue) {
        self.document = document
        let checker = SchemaChecker(document: document)
        self.checker = checker
        operations = (document["paths"]?.object?.members ?? []).flatMap { path in
            let shared = path.value["parameters"]?.array ?? []
            return (path.value.object?.members ?? []).filter { $0.name != "parameters" }.map { member in
                let parameters = shared + (member.value["parameters"]?.array ?? [])
                return Operation(
                    method: member.name.uppercased(), path: path.name, value: member.value,
                    parameters: parameters.compactMap(checker.resolved))
            }
        }
    }

    /// One method on one path.
    package struct Operation: Sendable {
        /// The method, in upper case.
        package let method: String
        /// The path, with its parameters in braces.
        package let path: String
        /// The operation's object in the document.
        package let value: JSONValue
        /// The parameters of the operation and of its path.
        package let parameters: [JSONValue]

        /// The names of the parameters of one kind, sorted.
        package func parameterNames(in place: String) -> [String] {
            parameters.filter { $0["in"] == .string(place) }.compactMap { $0["name"]?.string }.sorted()
        }

        /// The values of the path's parameters in a request's path; nil if the path does not match.
        func arguments(in path: String) -> [String: String]? {
            let names = self.path.split(separator: "/", omittingEmptySubsequences: false)
            let values = path.prefix { $0 != "?" }.split(separator: "/", omittingEmptySubsequences: false)
            guard names.count == values.count else { return nil }
            var arguments: [String: String] = [:]
            for (name, value) in zip(names, values) {
                if name.hasPrefix("{") {
                    // No operation's path has an empty segment.
                    guard !value.isEmpty else { return nil }
                    arguments[String(name.dropFirst().dropLast())] = String(value).removingPercentEncoding ?? ""
                } else if name != value {
                    return nil
                }
            }
            return arguments
        }
    }

    /// Checks a reply to a path or method that the document does not have.
    func faults(ofUnknown reply: Reply, allowed: [String]) -> [String] {
        if allowed.isEmpty {
            return faults(of: reply, by: ["$ref": "#/components/responses/NotFound"], status: 404)
        }
        var faults = faults(of: reply, by: ["$ref": "#/components/responses/MethodNotAllowed"], status: 405)
        if reply.headers["allow"] != allowed.joined(separator: ", ") { faults.append("Allow is not \(allowed)") }
        return faults
    }

    private func faults(of reply: Reply, by response: JSONValue, status: Int) -> [String] {
        guard reply.status == status else { return ["the status must be \(status)"] }
        return faults(of: reply, by: response)
    }

    /// All differences between the document and a reply; those of the request too, if it was accepted.
    package func faults(of reply: Reply, requestBody: [UInt8]?) -> [String] {
        // A literal path takes precedence over a path with parameters. Spec: OpenAPI 3.1 §4.8.8.2.
        let written = operations.filter { $0.path == reply.path.prefix { $0 != "?" } }
        let onPath = written.isEmpty ? operations.filter { $0.arguments(in: reply.path) != nil } : written
        guard let operation = onPath.first(where: { $0.method == reply.method.rawValue }),
            let arguments = operation.arguments(in: reply.path)
        else { return faults(ofUnknown: reply, allowed: onPath.map(\.method).sorted()) }
        guard let response = operation.value["responses"]?["\(reply.status)"] else {
            return ["the status is not documented"]
        }
        var faults = faults(of: reply, by: response)
        if (200..<300).contains(reply.status) {
            faults += self.faults(ofAccepted: arguments, requestBody, path: reply.path, by: operation)
        }
        return faults
    }

    private func faults(of reply: Reply, by response: JSONValue) -> [String] {
        guard let response = checker.resolved(response) else { return ["the response leads nowhere"] }
        var faults: [String] = []
        for header in response["headers"]?.object?.members ?? [] {
            guard let wanted = checker.resolved(header.value), let schema = wanted["schema"] else {
                faults.append("\(header.name) leads nowhere")
                continue
            }
            if let value = reply.headers[header.name.lowercased()] {
                faults += checker.faults(in: .string(value), by: schema, at: header.name)
            } else if wanted["required"] == true {
                faults.append("\(header.name) is missing")
            }
        }
        if reply.method != .HEAD { faults += self.faults(ofBody: reply, by: response["content"]) }
        return faults
    }

    private func faults(ofBody reply: Reply, by content: JSONValue?) -> [String] {
        guard let content else { return reply.body.isEmpty ? [] : ["there must be no body"] }
        let type = reply.headers["content-type"]?.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces) ?? ""
        guard let media = content[type], let schema = media["schema"] else {
            return ["the media type \"\(type)\" is not documented"]
        }
        guard type.hasSuffix("json") else {
            guard let text = String(strictUTF8: reply.body) else { return ["the body is not UTF-8"] }
            var faults = checker.faults(in: .string(text), by: schema)
            if let data = media["x-event-data"] {
                for event in text.split(separator: "\n") where event.hasPrefix("data: ") {
                    let value = try? JSONValue(parsing: Array(event.dropFirst(6).utf8))
                    faults += checker.faults(in: value ?? .null, by: data)
                }
            }
            return faults
        }
        guard let value = try? JSONValue(parsing: reply.body) else { return ["the body is not JSON"] }
        return checker.faults(in: value, by: schema)
    }

    /// Checks that the document allows the request that the server has accepted.
    private func faults(
        ofAccepted arguments: [String: String], _ body: [UInt8]?, path: String, by operation: Operation
    ) -> [String] {
        var faults: [String] = []
        for parameter in operation.parameters where parameter["in"] == "path" {
            if let name = parameter["name"]?.string, let schema = parameter["schema"] {
                faults += checker.faults(in: .string(arguments[name] ?? ""), by: schema, at: name)
            }
        }
        let known = operation.parameterNames(in: "query")
        for part in path.split(separator: "?").dropFirst().first?.split(separator: "&") ?? [] {
            let name = String(part.prefix { $0 != "=" })
            if !known.contains(name) { faults.append("the parameter \(name) was accepted and is not documented") }
        }
        guard let request = operation.value["requestBody"] else { return faults }
        guard let body, !body.isEmpty else {
            return request["required"] == true ? faults + ["no body was accepted"] : faults
        }
        let schema = request["content"]?["application/json"]?["schema"] ?? .null
        let value = (try? JSONValue(parsing: body)) ?? .null
        return faults + checker.faults(in: value, by: schema).map { "accepted request: \($0)" }
    }
}
