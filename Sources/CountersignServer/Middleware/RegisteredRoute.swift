/// One route: a method on a path, with the query parameters it knows.
package struct RegisteredRoute: Hashable, Sendable {
    /// The method.
    package let method: String
    /// The path, its parameters as `:name`.
    package let path: String
    /// The names of the query parameters.
    package let query: [String]
}
