import Mustache

/// The template of a page, in every language.
///
/// A template is HTML that is also well-formed XML. `[[word]]` stands for a text of ours (see ``PageWord``), which may
/// itself have `{{values}}`; `[[word|plain]]` for the same where no element may stand, in an attribute or in the title.
/// There are no partials: Mustache would escape them in its own way. See ``HTMLContent``.
package struct PageTemplate: Sendable {
    /// The name, for tests and for what is said of a broken template.
    let name: String
    /// The whole text, before words take the place of their names.
    let text: String
    private let parsed: [PageLanguage: MustacheTemplate]

    /// Puts a page together and parses it.
    ///
    /// - Parameters:
    ///   - name: the page's name.
    ///   - panel: what the panel shows.
    ///   - heading: the text of the heading and the first part of the title.
    ///   - takesFocus: whether the heading takes the focus, because the page came without an act of the reader's.
    ///   - scripts: the scripts that the page loads.
    ///   - announcement: what was just done, said where the value `announcement` is there; nil for nothing.
    ///   - main: what stands below the heading.
    init(
        _ name: String, panel: PageFrame.Panel = .asking, heading: String, takesFocus: Bool = false,
        scripts: [PageAssets.Script] = [], announcement: String? = nil, main: String
    ) {
        self.name = name
        let text = PageFrame.template(
            panel: panel, heading: heading, takesFocus: takesFocus, scripts: scripts, announcement: announcement,
            main: main)
        self.text = text
        parsed = Dictionary(
            uniqueKeysWithValues: PageLanguage.allCases.map { language in
                do {
                    let words = PageText.of(language)
                    return (language, try MustacheTemplate(string: HTMLContent.pragma + words.inserted(into: text)))
                } catch {
                    preconditionFailure("the template of the page \(name) cannot be parsed: \(error)")
                }
            })
    }

    /// Renders the page in a language.
    func render(_ values: [String: Any], in language: PageLanguage) -> String {
        parsed[language]?.render(Values(named: values)) ?? ""
    }

    /// The values of a page; the template library asks each object for its conformance, which costs a dictionary more.
    private struct Values: MustacheParent {
        let named: [String: Any]

        func child(named name: String) -> Any? { named[name] }
    }

    /// Every template of ours.
    static let all: [PageTemplate] = [
        IdentifierPage.template, ChooseWayPage.template, WorkPage.template, NumberPage.template, CodePage.template,
        QRPage.template, SignedInElsewherePage.template, ConsentPage.template, OfferPasskeyPage.template,
        PasskeyMadePage.template,
        ApprovedPage.template, OnwardPage.template, OnwardPostPage.template, EndedPage.template, ErrorPage.template,
        SignedOutPage.template, SignOutPage.template, LinkHerePage.template, LinkElsewherePage.template,
        LinkCodePage.template,
        DeviceCodePage.template, DeviceConfirmPage.template, DeviceDonePage.template,
        AccountPage.template, RemoveDevicePage.template, PasskeyPage.template, CreatePasskeyPage.template,
        AddAddressPage.template, AddressCodePage.template, AddressPage.template, UserCodePage.template,
    ]
}
