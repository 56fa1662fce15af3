import CountersignCore
import CountersignWire
import Encodings
import Foundation
import RelyingPartyAPI

/// A file with challenge types, in the format of `countersign type list --json`.
enum TypeFile {
    /// Reads the types in a file; a name may occur only once.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - captchas: the captchas that the types may need.
    static func types(in path: String, with captchas: Set<CaptchaName>) throws(StartError) -> [ChallengeType] {
        guard let bytes = FileManager.default.contents(atPath: path) else {
            throw StartError(
                "\(path) cannot be read. It must hold challenge types as `countersign type list --json` does.")
        }
        do {
            var members = try JSONMembers(try JSONValue(parsing: Array(bytes)))
            let types = try members.array("types").map { element in
                var members = try JSONMembers(element.value, at: element.pointer)
                let name = try members.required("name", "a name of lower case letters, digits, - and _") {
                    $0.string.flatMap { TypeName($0) }
                }
                let type = try ChallengeType(element.value, name: name, at: element.pointer)
                if let violation = type.violation(with: captchas) {
                    throw JSONShapeError.invalid(
                        pointer: "\(element.pointer)/\(violation.member)", expected: violation.expected)
                }
                return type
            }
            try members.refuseUnknown()
            for (index, type) in types.enumerated() where types[..<index].contains(where: { $0.name == type.name }) {
                throw JSONShapeError.invalid(
                    pointer: "/types/\(index)/name", expected: "another name: it stands there twice")
            }
            return types
        } catch let error as JSONShapeError {
            throw StartError("\(path) cannot be used: \(ProblemDetails(shape: error).detail ?? "").")
        } catch let error as RefusedText {
            throw StartError(
                "\(path) cannot be used: \(error.pointer) may not be shown to anybody: \(error.refusal.rawValue).")
        } catch {
            throw StartError("\(path) cannot be used: it is not JSON.")
        }
    }
}
