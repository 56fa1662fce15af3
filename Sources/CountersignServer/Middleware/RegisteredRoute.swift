/// One route: a method, a path and the allowed query parameters.
package struct RegisteredRoute: Hashable, Sendable {
    package let method: String
    /// The path, with parameters written as `:name`.
    package let path: String
    /// The names of the allowed query parameters.
    package let query: [String]
}
