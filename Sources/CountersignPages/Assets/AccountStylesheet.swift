extension PageAssets {
    /// What the pages of the account need besides ``stylesheet``.
    static let accountStylesheet = compact(accountRules)

    private static let accountRules = """
        :root { --good: #1b6440; }
        @media (prefers-color-scheme: dark) { :root { --good: #86d6a8; } }
        main > div { max-inline-size: 43rem; }
        main > div > h2 { margin-block: 3rem .75rem; scroll-margin-block-start: 1rem; }
        [role=status]:focus { outline: 0; }

        nav { display: grid; grid-template-columns: 1fr 1fr; column-gap: 1rem; margin-block-start: .5rem; line-height: 1.3; }
        nav a { display: flex; align-items: center; min-block-size: 44px; color: inherit; text-decoration: none; }
        nav a:hover { text-decoration: underline; }
        nav [aria-current] { text-decoration: underline 2px; }

        main dl { margin-block-end: 1rem; }
        main dl > div { grid-template-columns: 6.5rem minmax(0, 1fr); }

        .notice { margin-block-start: 1.5rem; padding-block: 1rem; border-block: 2px solid var(--ink); }
        .notice + .notice { margin-block-start: 0; border-block-start: 0; }
        .notice .acts { margin-block-start: 1rem; }

        .rows { padding: 0; list-style: none; border-block-end: 1px solid var(--line); }
        .rows li { display: flex; flex-wrap: wrap; align-items: center; gap: 0 1rem; min-block-size: 64px; padding-block: .75rem; border-block-start: 1px solid var(--line); }
        .rows div { flex: 1 10rem; min-inline-size: 0; }
        .rows b { font-weight: 600; }
        .rows div > b { margin-inline-end: .25rem; }
        .rows .small { display: block; }
        .rows .link { flex: none; text-align: end; }
        .scopes::first-letter { text-transform: uppercase; }
        .tag { display: inline-block; padding-inline: .375rem; border: 1px solid; border-radius: 3px; color: var(--soft); font-size: .875rem; font-weight: 600; line-height: 1.3; }
        .tag.good { color: var(--good); }
        .tag.bad, .outlined.bad, .bad strong { color: var(--danger); }
        .rule label { margin-block-start: 0; }

        @media (max-width: 29.99rem) {
          .rows div:has(~ .link ~ .link) { flex-basis: 100%; }
        }
        @media (max-width: 59.99rem) {
          .below { display: block; }
          .below a:not([aria-current]) { display: none; }
        }
        @media (min-width: 60rem) {
          nav { display: block; margin-block-start: 1.5rem; }
          nav a { inline-size: fit-content; }
        }

        """
}
