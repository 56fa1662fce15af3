import AsyncHTTPClient

/// Why a request failed, in words without secrets.
func words(of error: any Error) -> String {
    (error as? HTTPClientError)?.shortDescription ?? "\(type(of: error))"
}
