/// What clients' servers have asked, and what was told of it.
struct ServerRequests {
    /// What a client's server brings of the person's code.
    enum Brought { case nothing, rightCode, wrongCode }

    /// A party was told that a request has ended.
    private struct End {
        let words: String
        let time: Duration
        /// Whether the end is in the database, and not only the reading of a node's clock.
        let isWritten: Bool
    }

    /// By how much the clocks of two nodes differ at most if none was set.
    private static let skew = Duration.seconds(5)

    /// What was brought with requests, by the texts of their questions, of which no two requests have the same.
    var brought: [String: Brought] = [:]
    /// The requests of whose decision their client was told.
    var told: Set<String> = []
    private var ends: [String: End] = [:]
    /// The tokens that were given for requests.
    private var families: [String: String] = [:]

    /// Records that a party was told that a request has ended.
    mutating func end(_ request: String, _ words: String, at time: Duration, isWritten: Bool) {
        if let earlier = ends[request], earlier.isWritten || !isWritten { return }
        ends[request] = End(words: words, time: time, isWritten: isWritten)
    }

    /// What a party was told of the end of a request, if nothing may come of it any more; nil if something may.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - time: when something comes of it.
    ///   - areClocksRight: whether no clock was set; otherwise another node may rightly think that it goes on.
    func end(of request: String, at time: Duration, areClocksRight: Bool) -> String? {
        guard let end = ends[request] else { return nil }
        return end.isWritten || areClocksRight && time > end.time + Self.skew ? end.words : nil
    }

    /// Records that tokens were given for a request.
    mutating func give(_ family: String, for request: String) -> (Int, String)? {
        guard let earlier = families.updateValue(family, forKey: request) else { return nil }
        return (15, "\(earlier) and \(family) were given for \(request)")
    }
}
