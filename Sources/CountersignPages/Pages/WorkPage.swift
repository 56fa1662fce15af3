/// The page between a choice and what it leads to while there are many sign-ins: the browser solves a puzzle first.
///
/// It reads the same for known and unknown users. It goes on by itself; without scripts, after a wait.
package struct WorkPage: HostedPage {
    /// The field with the number that solves the puzzle.
    package static let field = "nonce"

    /// A puzzle.
    package struct Puzzle: Hashable, Sendable {
        /// What the number is hashed with, in hexadecimal digits.
        package var seed: String
        /// With how many zero bits the hash must begin.
        package var bits: Int

        /// Creates a puzzle.
        package init(seed: String, bits: Int) {
            self.seed = seed
            self.bits = bits
        }
    }

    /// What is wrong with what was sent.
    package enum Problem: Hashable, Sendable {
        /// It was sent before the wait was over.
        case early
        /// It does not solve the puzzle.
        case wrong
    }

    /// Where the form posts to.
    package var action: String
    /// The puzzle.
    package var puzzle: Puzzle
    /// After how many seconds one goes on without a solution.
    package var seconds: Int
    /// The buttons below.
    package var exits: PageExits
    /// What was wrong; then one waits, and no script tries again.
    package var problem: Problem?

    /// Creates the page.
    package init(action: String, puzzle: Puzzle, seconds: Int, exits: PageExits, problem: Problem? = nil) {
        self.action = action
        self.puzzle = puzzle
        self.seconds = seconds
        self.exits = exits
        self.problem = problem
    }

    /// Whether something is wrong.
    package var hasError: Bool { problem != nil }
    /// A policy that lets the page solve its puzzle beside it.
    package var contentSecurityPolicy: String { PageAssets.workingPolicy }

    /// The values of the page.
    package func values(in frame: PageFrame) -> [String: Any] {
        // One second is no time to wait, and its own word in every language.
        let seconds = String(max(2, seconds))
        let values: [String: Any?] = [
            "action": action, "seconds": seconds, "isEarly": problem == .early, "isWrong": problem == .wrong,
            "seed": problem == nil ? puzzle.seed : nil, "bits": String(puzzle.bits),
        ]
        return Dictionary(present: values).merging(exits.values) { $1 }
    }

    /// The template of the page.
    package static let template = PageTemplate(
        "work", heading: "[[workHeading]]", scripts: [.work],
        main: """
            <p>[[workText]]</p>
            {{^hasError}}
            <p class="if-still">[[workWait]]</p>
            {{/hasError}}
            {{#isEarly}}
            <p class="error">\(Icons.sign)<span>[[workEarly]]</span></p>
            {{/isEarly}}
            {{#isWrong}}
            <p class="error">\(Icons.sign)<span>[[workFailed]]</span></p>
            {{/isWrong}}
            <form id="work" method="post" action="{{action}}"{{#seed}} data-seed="{{seed}}" data-bits="{{bits}}" \
            data-solver="\(PageAssets.path(of: .solve))" data-says-working="[[sayWorking|plain]]" \
            data-says-solved="[[saySolved|plain]]" data-says-failed="[[workFailed|plain]]"{{/seed}}>\
            \(PageFrame.sealedRequest)
            <p class="acts if-still"><button class="filled">[[continueButton]]</button></p>
            </form>
            \(PageFrame.status)
            <div class="acts">
            \(PageExits.template)
            </div>
            """)
}
