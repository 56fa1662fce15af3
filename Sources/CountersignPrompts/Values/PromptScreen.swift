/// What a screen shows, in the order in which it is read: every word of it, and no look.
///
/// A view draws its parts, and hands the ``PromptButton/act`` of what was tapped to the model.
public struct PromptScreen: Hashable, Sendable {
    /// What stands before the client's name, such as "Asked by"; nil where no client is named.
    public var label: String?
    /// The name of the one who asks; nil where none is named.
    public var client: String?
    /// The ledger below the name: as whom, from where, when.
    public var facts: [PromptFact] = []
    /// The heading.
    public var heading: String
    /// The text below the heading.
    public var paragraphs: [String] = []
    /// What is signed besides the text, in order.
    public var details: [PromptFact] = []
    /// What is listed, each with what can be done to it.
    public var groups: [PromptGroup] = []
    /// What stands before ``signedLines``; nil where nothing is signed.
    public var signedLabel: String?
    /// Every line of the text that the answer signs; it may stand behind a button that unfolds it.
    public var signedLines: [String] = []
    /// A number or a code to be read, in groups; nil for none.
    public var code: PromptCode?
    /// The text of a QR code; nil for none.
    public var scannable: String?
    /// The time that is left, such as "1:42 left"; nil where nothing runs out.
    public var timeLeft: String?
    /// Whether the camera looks for a code.
    public var looksForCode = false
    /// Whether something is under way that ends by itself.
    public var isBusy = false
    /// The field; nil for none.
    public var field: PromptField?
    /// The buttons, in order.
    public var buttons: [PromptButton] = []

    /// A screen with a heading.
    public init(heading: String) {
        self.heading = heading
    }

    /// What a custom authenticator is asked for on this screen; nil where none is.
    public var custom: CustomRequest? {
        if case .custom(let request) = field?.kind { request } else { nil }
    }

    /// This screen where a view of the app's own asks the custom authenticator: without the button that takes what was
    /// typed, and without what the authenticator has said, which the view has.
    public var askedByApp: PromptScreen {
        guard custom != nil else { return self }
        var screen = self
        screen.paragraphs = []
        screen.buttons.removeAll { $0.act == .submit }
        return screen
    }

    /// What a screen reader does when a screen has taken the place of another one.
    public enum Reading: Hashable, Sendable {
        /// It goes to the heading, which is another one.
        case heading
        /// It goes to what is wrong with what was typed.
        case problem
        /// It stays where it is, and says this.
        case says(String)
    }

    /// What a screen reader does when this screen has taken the place of another one; nil for nothing.
    public func reading(after other: PromptScreen) -> Reading? {
        if let problem = field?.problem, heading != other.heading || problem != other.field?.problem { return .problem }
        guard heading == other.heading else { return .heading }
        let news = paragraphs.filter { !other.paragraphs.contains($0) }
        return news.isEmpty ? nil : .says(news.joined(separator: " "))
    }
}

/// Something in a list, such as a device, with what can be done to it.
public struct PromptGroup: Hashable, Identifiable, Sendable {
    /// Tells it from the others of the list.
    public let id: String
    /// What it is called.
    public let title: String
    /// What is said of it, in order.
    public let lines: [String]
    /// The buttons that do something to it, in order.
    public let buttons: [PromptButton]

    /// Something of these parts.
    public init(id: String, title: String, lines: [String], buttons: [PromptButton] = []) {
        self.id = id
        self.title = title
        self.lines = lines
        self.buttons = buttons
    }
}

/// Digits or letters to be read, and perhaps to be typed elsewhere.
public struct PromptCode: Hashable, Sendable {
    /// How they are written: "471 932".
    public let written: String
    /// How a screen reader says them: "4 7 1, 9 3 2".
    public let spoken: String

    /// A number, in two groups.
    public init(number: String) {
        let groups = [number.prefix(number.count / 2), number.suffix(number.count - number.count / 2)]
        written = groups.joined(separator: " ")
        spoken = groups.map { $0.map(String.init).joined(separator: " ") }.joined(separator: ", ")
    }

    /// A code that is written as it is.
    public init(code: String) {
        written = code
        spoken = code.map(String.init).joined(separator: " ")
    }
}

/// A field.
public struct PromptField: Hashable, Sendable {
    /// What is typed there.
    public enum Kind: Hashable, Sendable {
        /// A number of this many digits.
        case number(length: Int)
        /// The PIN there is; nobody may read it.
        case pin
        /// A PIN that is being chosen, of so many digits; nobody may read it.
        case newPIN(ClosedRange<Int>)
        /// What a custom authenticator judges; nobody may read it.
        case custom(CustomRequest)

        /// Whether nobody may read what is typed.
        public var isSecret: Bool {
            switch self {
            case .number: false
            case .pin, .newPIN, .custom: true
            }
        }
    }

    /// What is typed there.
    public let kind: Kind
    /// Its label.
    public let label: String
    /// What is wrong with what was typed; nil for nothing.
    public let problem: String?

    /// A field of these parts.
    public init(kind: Kind, label: String, problem: String? = nil) {
        self.kind = kind
        self.label = label
        self.problem = problem
    }
}

/// A button.
public struct PromptButton: Hashable, Sendable {
    /// How it stands beside the others.
    public enum Role: Hashable, Sendable {
        /// The one that most people choose; at most one is filled.
        case main
        /// An ordinary one.
        case plain
        /// One that refuses or removes.
        case danger
    }

    /// What it does.
    public let act: PromptAct
    /// Its text.
    public let label: String
    /// How it stands beside the others.
    public let role: Role

    /// A button of these parts.
    public init(_ act: PromptAct, _ label: String, role: Role = .plain) {
        self.act = act
        self.label = label
        self.role = role
    }
}

/// What a person can do on a screen.
///
/// A model does nothing with an act that its screen does not offer.
public enum PromptAct: Hashable, Sendable {
    /// Approves.
    case approve
    /// Denies.
    case deny
    /// Reports that somebody else started this.
    case report
    /// Says that the person has scanned the code or followed the link themselves.
    case goOn
    /// Approves, or proves an act, by this method.
    case use(PromptMethod)
    /// Takes what was typed.
    case submit
    /// Tries again.
    case retry
    /// Goes back to the screen before.
    case back
    /// Gives up.
    case cancel
    /// Closes a screen on which nothing is left to do.
    case close
    /// Opens the question of this id.
    case open(String)
    /// Asks for another code.
    case renew
    /// Undoes what still waits: this device, or the device of this id.
    case undo(String?)
    /// Undoes a method, by its name in the API, of the device of this id.
    case undoMethod(String, of: String)
    /// Suspends the device of this id.
    case suspend(String)
    /// Resumes the device of this id.
    case resume(String)
    /// Removes the device of this id.
    case remove(String)
    /// Gives up a custom authenticator.
    case deregister
    /// Opens the system's settings of the app, which is for the view to do.
    case openSettings
}
