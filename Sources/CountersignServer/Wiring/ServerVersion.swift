/// The version of the program.
package enum ServerVersion {
    /// As it is printed.
    package static let text = "0.1.0"
}
