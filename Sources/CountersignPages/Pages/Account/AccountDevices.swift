extension AccountPage {
    /// A trusted device.
    package struct Device: Hashable, Sendable {
        /// What is checked on the device before it approves.
        package enum Method: Hashable, Sendable {
            /// A PIN.
            case pin
            /// A fingerprint or a face.
            case biometric
        }

        /// Whether the device can approve.
        package enum State: Hashable, Sendable {
            /// It can.
            case active
            /// It can from a time on, in seconds since 1970.
            case waiting(until: Int)
            /// It cannot until another device resumes it.
            case suspended
        }

        /// A method that was set on a device that counts, and does not count yet itself.
        package struct WaitingMethod: Hashable, Sendable {
            /// What it is.
            package enum Kind: Hashable, Sendable {
                /// A PIN.
                case pin
                /// A fingerprint or a face.
                case biometric
                /// Something that a client checks.
                case custom
            }

            /// What it is.
            package var kind: Kind
            /// The name in paths.
            package var name: String
            /// From when it counts, in seconds since 1970.
            package var until: Int

            /// Creates a method.
            package init(_ kind: Kind, name: String, until: Int) {
                self.kind = kind
                self.name = name
                self.until = until
            }
        }

        /// For whom the device counts.
        package enum Reach: Hashable, Sendable {
            /// For everybody: it is confirmed.
            case everywhere
            /// For the operator's own sites: it is not confirmed, and one of these enrolled it.
            case operatorsSites
            /// For the client that enrolled it alone: it is not confirmed, and the client is a third party.
            case clientAlone
        }

        /// The name in paths.
        package var id: String
        /// The model.
        package var name: String
        /// What is checked on it; none where a tap is enough.
        package var methods: Set<Method>
        /// When it was enrolled, in seconds since 1970.
        package var enrolledAt: Int
        /// The name of the client with which it was enrolled.
        package var client: String
        /// Where it was enrolled, in the page's language: "Berlin, Germany"; nil where that is unknown.
        package var place: String?
        /// When it last approved anything, in seconds since 1970.
        package var lastApprovedAt: Int?
        /// Whether it can approve.
        package var state: State
        /// Whether a suspended one can be resumed here.
        package var canBeResumed: Bool
        /// The methods that wait.
        package var waitingMethods: [WaitingMethod]
        /// For whom it counts.
        package var reach: Reach
        /// From when it counts for everybody, in seconds since 1970, because the person said by an address that it is
        /// theirs; nil where they did not, or it does already.
        package var confirmingFrom: Int?

        /// Creates a device.
        package init(
            id: String, name: String, methods: Set<Method>, enrolledAt: Int, client: String, place: String? = nil,
            lastApprovedAt: Int? = nil, state: State = .active, canBeResumed: Bool = false,
            waitingMethods: [WaitingMethod] = [], reach: Reach = .everywhere, confirmingFrom: Int? = nil
        ) {
            self.id = id
            self.name = name
            self.methods = methods
            self.enrolledAt = enrolledAt
            self.client = client
            self.place = place
            self.lastApprovedAt = lastApprovedAt
            self.state = state
            self.canBeResumed = canBeResumed
            self.waitingMethods = waitingMethods
            self.reach = reach
            self.confirmingFrom = confirmingFrom
        }
    }
}

extension AccountPage.Device {
    /// Whether the page begins with a notice of the device.
    var needsAnAct: Bool { waitsUntil != nil || reach != .everywhere }

    private var waitsUntil: Int? {
        switch state {
        case .waiting(let until): until
        case .active, .suspended: nil
        }
    }

    private var countsFrom: Int? { reach == .everywhere ? nil : confirmingFrom }

    func values(in frame: PageFrame) -> [String: Any] {
        Dictionary(present: [
            "id": PageAddress.segment(id), "device": name, "client": client, "day": frame.day(enrolledAt),
            "moment": frame.moment(enrolledAt, as: .adverb), "place": place,
            "lastUsed": lastApprovedAt.map { frame.moment($0) }, "until": waitsUntil.map { frame.moment($0) },
            "isWaiting": waitsUntil != nil, "hasWaitingTag": waitsUntil != nil || countsFrom != nil,
            "isSuspended": state == .suspended, "canResume": state == .suspended && canBeResumed,
            "isActive": state == .active,
            "isConfirming": countsFrom != nil, "from": countsFrom.map { frame.moment($0) },
            "isUnconfirmed": reach != .everywhere && countsFrom == nil, "hasBoth": methods == [.pin, .biometric],
            "hasPIN": methods == [.pin], "hasBiometric": methods == [.biometric], "hasNoMethod": methods.isEmpty,
        ])
    }

    /// The values of the notice of a device that waits or is not confirmed.
    func notice(_ confirming: AccountPage.Confirming, in frame: PageFrame) -> [String: Any] {
        var own: [String: Any?] = [
            "onDay": frame.day(enrolledAt, as: .adverb), "isOfClient": reach == .clientAlone,
            "canConfirm": confirming == .here, "needsAnyDevice": confirming == .afterSignIn(with: nil),
        ]
        if case .afterSignIn(let device?) = confirming { own["other"] = device }
        return values(in: frame).merging(Dictionary(present: own)) { $1 }
    }

    /// The values of the notices of its methods that wait.
    func methodNotices(in frame: PageFrame) -> [[String: Any]] {
        waitingMethods.map { method in
            [
                "id": PageAddress.segment(id), "device": name, "method": PageAddress.segment(method.name),
                "until": frame.moment(method.until), "isPIN": method.kind == .pin,
                "isBiometric": method.kind == .biometric, "isCustom": method.kind == .custom,
            ]
        }
    }

    /// What may need an act: a method that waits.
    static let methodNotices = """
        {{#methodNotices}}
        <div class="notice">
        <p>{{#isPIN}}[[waitingPIN]]{{/isPIN}}{{#isBiometric}}[[waitingBiometric]]{{/isBiometric}}\
        {{#isCustom}}[[waitingCustom]]{{/isCustom}}</p>
        <p class="acts"><button class="outlined" form="other" \
        formaction="/account/devices/{{id}}/methods/{{method}}/undo">{{#isPIN}}[[undoPIN]]{{/isPIN}}\
        {{#isBiometric}}[[undoBiometric]]{{/isBiometric}}{{#isCustom}}[[undoCustom]]{{/isCustom}}</button></p>
        </div>
        {{/methodNotices}}
        """

    /// What may need an act: a device that waits, and one that nobody has confirmed, or only by an address.
    static let notices = """
        {{#notices}}
        {{#isUnconfirmed}}
        <div class="notice" role="group" aria-label="[[deviceQuestion|plain]]">
        <p><strong>[[deviceQuestion]]</strong> [[enrolledOn]] \
        {{#isOfClient}}[[countsForClient]]{{/isOfClient}}{{^isOfClient}}[[countsForOperator]]{{/isOfClient}} \
        {{#isWaiting}}[[waitsUntil]] [[ifUnknownUndo]]{{/isWaiting}}{{^isWaiting}}[[ifUnknown]]{{/isWaiting}}</p>
        {{^canConfirm}}
        <p class="soft">{{#needsAnyDevice}}[[confirmFirst]]{{/needsAnyDevice}}\
        {{^needsAnyDevice}}[[confirmFirstWith]]{{/needsAnyDevice}}</p>
        {{/canConfirm}}
        <p class="acts">
        {{#canConfirm}}
        <button class="outlined" form="other" formaction="/account/devices/{{id}}/confirm">[[yesKeepIt]]</button>
        {{/canConfirm}}
        \(removalInNotice)
        </p>
        </div>
        {{/isUnconfirmed}}
        {{#isConfirming}}
        <div class="notice">
        <p><strong>[[deviceCountsFrom]]</strong> {{#isWaiting}}[[waitsUntil]] [[ifNotKnownUndo]]{{/isWaiting}}\
        {{^isWaiting}}[[ifNotKnown]]{{/isWaiting}}</p>
        <p class="acts">
        \(removalInNotice)
        </p>
        </div>
        {{/isConfirming}}
        {{^isUnconfirmed}}{{^isConfirming}}
        <div class="notice">
        <p>{{#.place}}[[waitingNoticePlace]]{{/.place}}{{^.place}}[[waitingNotice]]{{/.place}}</p>
        <p class="acts"><a class="outlined" href="/account/devices/{{id}}/remove">[[undoDevice]]</a></p>
        </div>
        {{/isConfirming}}{{/isUnconfirmed}}
        {{/notices}}
        """

    /// The rows of the devices.
    static let section = """
        <h2 id="devices">[[accountDevices]]</h2>
        {{#hasDevices}}
        <ul class="rows">
        {{#devices}}
        <li><div>
        <b><bdi>{{device}}</bdi></b>
        {{#hasWaitingTag}}
        <span class="tag">[[tagWaiting]]</span>
        {{/hasWaitingTag}}
        {{#isSuspended}}
        <span class="tag">[[tagSuspended]]</span>
        {{/isSuspended}}
        {{#isUnconfirmed}}
        <span class="tag">[[tagNotConfirmed]]</span>
        {{/isUnconfirmed}}
        <span class="small">{{#isWaiting}}[[canApproveFrom]]{{/isWaiting}}{{#isSuspended}}[[approvesNothing]]\
        {{/isSuspended}}{{#isActive}}{{#hasBoth}}[[methodBoth]]{{/hasBoth}}{{#hasPIN}}[[methodPIN]]{{/hasPIN}}\
        {{#hasBiometric}}[[methodBiometric]]{{/hasBiometric}}{{#hasNoMethod}}[[methodNone]]{{/hasNoMethod}}. \
        {{#.lastUsed}}[[lastApproval]]{{/.lastUsed}}{{^.lastUsed}}[[enrolledNote]]{{/.lastUsed}}{{/isActive}}\
        {{#isConfirming}}. [[countsEverywhereFrom]]{{/isConfirming}}</span>
        </div>
        {{#canResume}}
        <button class="link" form="other" formaction="/account/devices/{{id}}/resume" \
        aria-label="[[resumeDevice|plain]]">[[resume]]</button>
        {{/canResume}}
        {{#isWaiting}}
        <a class="link" href="/account/devices/{{id}}/remove" aria-label="[[undoDevice|plain]]">[[undo]]</a>
        {{/isWaiting}}
        {{^isWaiting}}
        <a class="link" href="/account/devices/{{id}}/remove" aria-label="[[removeDevice|plain]]">[[remove]]</a>
        {{/isWaiting}}
        </li>
        {{/devices}}
        </ul>
        {{/hasDevices}}
        {{^hasDevices}}
        <p class="soft">{{#hasClient}}[[noDevices]]{{/hasClient}}{{^hasClient}}[[noDevicesNobody]]{{/hasClient}}</p>
        {{/hasDevices}}
        """

    /// What takes a device away, by its whole name: a notice has no row that it would belong to.
    private static let removalInNotice = """
        <a class="outlined" href="/account/devices/{{id}}/remove">{{#isWaiting}}[[undoDevice]]{{/isWaiting}}\
        {{^isWaiting}}[[removeDevice]]{{/isWaiting}}</a>
        """
}
