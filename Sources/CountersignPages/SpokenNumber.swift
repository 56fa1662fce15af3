/// Six large digits, which a screen reader says one by one.
enum SpokenNumber {
    static func values(of digits: String) -> [String: Any] {
        let groups = [digits.prefix(digits.count / 2), digits.suffix(digits.count - digits.count / 2)]
        let spoken = groups.map { $0.map(String.init).joined(separator: " ") }.joined(separator: ", ")
        return ["first": String(groups[0]), "second": String(groups[1]), "spoken": spoken]
    }

    static let template = """
        <p class="number" role="img" aria-label="{{spoken}}" dir="ltr"><span>{{first}}</span> \
        <span>{{second}}</span></p>
        """
}
