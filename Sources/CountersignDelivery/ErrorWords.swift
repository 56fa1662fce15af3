import AsyncHTTPClient

/// The reason why a request failed, as text without secrets.
func words(of error: any Error) -> String {
    (error as? HTTPClientError)?.shortDescription ?? "\(type(of: error))"
}
