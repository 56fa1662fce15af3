extension PageAssets {
    /// The stylesheet of every page.
    ///
    /// A client's own stylesheet sets `--accent` after it, and nothing else.
    static let stylesheet = compact(rules)

    /// Rules without the blanks that are there for us.
    static func compact(_ rules: String) -> String {
        [(": ", ":"), ("; ", ";"), (" { ", "{"), (" }", "}")].reduce(
            rules.split(separator: "\n").map { $0.drop { $0 == " " } }.joined(separator: "\n") + "\n"
        ) { $0.replacing($1.0, with: $1.1) }
    }

    private static let rules = """
        :root {
          color-scheme: light dark;
          --bg: #fff; --panel: #f1f4f5; --ink: #12181c; --soft: #4e5960; --edge: #737e85; --line: #d3dadd;
          --accent: #00566b; --danger: #a8201a;
          --margin: 1.25rem;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --bg: #101518; --panel: #171e22; --ink: #eaeff1; --soft: #a7b3b9; --edge: #78858c; --line: #323d43;
            --accent: #7ccbdd; --danger: #ffa59b;
          }
        }

        *, ::before, ::after { box-sizing: border-box; }
        html {
          font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
          font-variant-numeric: tabular-nums;
          -webkit-text-size-adjust: 100%; text-size-adjust: 100%;
          background: var(--bg); color: var(--ink);
        }
        body {
          margin: 0; min-block-size: 100vh; min-block-size: 100dvh;
          display: grid; grid-template: auto 1fr auto / minmax(0, 1fr);
          font-size: 1.0625rem; line-height: 1.5; overflow-wrap: anywhere;
        }
        h1 { margin: 0; font-size: 1.625rem; line-height: 1.2; letter-spacing: -.015em; text-wrap: balance; }
        h1:focus, .error:focus { outline: 0; }
        h2 { margin: 2rem 0 .25rem; font-size: 1.25rem; line-height: 1.3; }
        p { margin: 0; text-wrap: pretty; }
        ul, ol { margin: 0; padding-inline-start: 1.25rem; }
        form { display: contents; }
        svg { flex: none; fill: none; stroke: currentColor; stroke-width: 1.75; stroke-linecap: round; stroke-linejoin: round; }
        .onward:dir(rtl) { transform: scaleX(-1); }
        .small, header, footer { font-size: .9375rem; }
        .soft, .small { color: var(--soft); }
        .small b { color: var(--ink); }
        .skip, p[role=status]:not(.shown) { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%); }
        .skip:focus {
          inset: .5rem auto auto .5rem; inline-size: auto; block-size: auto; clip-path: none; padding: .75rem 1rem;
          background: var(--bg); z-index: 1;
        }
        .shown { margin-block-start: 1.5rem; scroll-margin-block: 1rem; font-weight: 600; }
        html:not(.live) .if-live, .live .if-still, [hidden] { display: none; }

        header {
          padding: .625rem var(--margin) .75rem; border-block-start: 4px solid var(--accent);
          border-block-end: 1px solid var(--line); background: var(--panel);
        }
        header > p, .who p { color: var(--soft); }
        .who { display: flex; align-items: center; gap: .75rem; line-height: 1.2; }
        header .client { color: var(--ink); font-size: 1.0625rem; font-weight: 700; line-height: 1.25; }
        .logo { max-inline-size: 120px; max-block-size: 44px; padding: 4px; border-radius: 6px; background: #fff; }
        .who + p { margin-block-start: .125rem; }
        dl { margin: .75rem 0 0; }
        dl > div { display: grid; grid-template-columns: 4rem minmax(0, 1fr); padding-block: .375rem; border-block-start: 1px solid var(--line); }
        dt { color: var(--soft); }
        dd { margin: 0; display: flex; flex-wrap: wrap; justify-content: space-between; column-gap: .75rem; }
        dd > :first-child { font-weight: 500; }
        dd > .soft { flex-basis: 100%; font-weight: 400; }
        header dl > :last-child { padding-block-end: 0; }

        main { padding: 2rem var(--margin) 3rem; }
        main > div { max-inline-size: 31rem; }
        main dl { margin-block-start: 1rem; }
        main dl > div { grid-template-columns: 5.25rem minmax(0, 1fr); font-size: .9375rem; }
        main dd { font-family: ui-monospace, monospace; }
        main dd > :first-child { font-weight: 400; }
        .facts dd { font-family: inherit; }
        .facts b { font-weight: 500; }
        h1 + p { margin-block-start: .75rem; }
        main p + p { margin-block-start: .75rem; }
        form + p { margin-block-start: 1rem; }

        footer { padding: 1.5rem var(--margin) 1rem; border-block-start: 1px solid var(--line); color: var(--soft); }
        .links { display: flex; flex-wrap: wrap; margin-inline: -.625rem; }
        footer .links > * { padding-inline: .625rem; }

        a, .link { color: var(--accent); text-underline-offset: .25em; }
        .link { padding-inline: 0; border: 0; background: none; font: inherit; text-align: start; text-decoration: underline; cursor: pointer; }
        .link, .links a { display: inline-block; min-block-size: 44px; min-inline-size: 44px; padding-block: .6875rem; }
        footer .link, .links a { color: inherit; }
        dd .link { margin-block: -.6875rem; text-align: end; }
        dd:has(.link) { row-gap: .6875rem; }
        :focus-visible { outline: 3px solid var(--ink); outline-offset: 2px; }
        input:focus-visible { outline-offset: 1px; }

        .acts { display: flex; flex-wrap: wrap; align-items: center; gap: .75rem 1rem; margin-block-start: 1.5rem; }
        .rule { margin-block-start: 2rem; padding-block-start: 1rem; border-block-start: 1px solid var(--line); }
        .rule + div { margin-block-start: .5rem; }
        .acts * + .link { margin-inline-start: .5rem; }
        .acts + dl { margin-block-start: 2rem; }
        .filled, .outlined {
          display: inline-block; min-block-size: 48px; padding: .75rem 1.5rem; border: 1px solid var(--edge); border-radius: 6px; background: none;
          color: var(--ink); font: inherit; font-weight: 600; line-height: 1.3; text-align: center; text-decoration: none; cursor: pointer;
        }
        .filled { border-color: var(--accent); background: var(--accent); color: var(--bg); }
        .filled:hover, .filled:hover b { text-decoration: underline; }
        .danger { border-color: var(--danger); background: var(--danger); }
        .outlined:hover { box-shadow: inset 0 0 0 1px var(--ink); }

        label { display: block; margin-block: 1.5rem .5rem; font-weight: 600; }
        .error { display: flex; gap: .375rem; margin-block: 0 .5rem; color: var(--danger); font-weight: 600; text-wrap: balance; }
        .error svg { inline-size: 1.25rem; block-size: 1.25rem; margin-block-start: .125rem; }
        p + .error { margin-block-start: .75rem; }
        h1 + .error, [role=status] + .error { margin-block-start: 1.5rem; }
        .acts .error { flex-basis: 100%; margin: 0; }
        input:not([type=hidden]) {
          display: block; inline-size: 100%; min-block-size: 48px; padding: .5rem .75rem; border: 1px solid var(--edge);
          border-radius: 6px; background: var(--bg); color: var(--ink); font: inherit;
        }
        input[aria-invalid] { border: 2px solid var(--danger); }
        input.code { inline-size: 14.5rem; max-inline-size: 100%; min-block-size: 64px; padding-inline: 1rem; font-size: 1.75rem; font-weight: 600; letter-spacing: .3em; }

        .ways { margin-block-start: 1.5rem; }
        .way {
          display: flex; align-items: center; gap: .75rem; inline-size: 100%; min-block-size: 64px; padding: .75rem; padding-inline-end: .25rem;
          border: 0; border-block-end: 1px solid var(--line); background: none; color: var(--ink); font: inherit;
          line-height: 1.4; text-align: start; cursor: pointer;
        }
        .way > span { flex: 1; min-inline-size: 0; }
        .way b, .way small { display: block; }
        .way b { font-weight: 600; }
        .way small { font-size: .9375rem; color: var(--soft); }
        .way.filled { border: 0; padding-block: 1rem; background: var(--accent); }
        .way.filled, .way.filled small { color: var(--bg); font-weight: 400; text-decoration: none; }
        .way:not(.filled):hover { box-shadow: inset 0 0 0 1px var(--ink); }

        .clock { inline-size: fit-content; margin-block: 1.25rem 1.5rem; }
        .number { font-size: clamp(3.5rem, 20vw, 6.5rem); font-weight: 600; line-height: 1.1; letter-spacing: -.045em; white-space: nowrap; }
        .number span + span { margin-inline-start: .08em; }
        .line { margin-block: .5rem .375rem; background: var(--line); }
        .line span { display: block; border-block-start: 4px solid var(--ink); }
        .scan { display: flex; flex-wrap: wrap; gap: 1.5rem 2.5rem; margin-block-start: 1.5rem; }
        .scan img { display: block; inline-size: 14.5rem; max-inline-size: 100%; aspect-ratio: 1; padding: 1rem; border: 1px solid var(--line); border-radius: 6px; background: #fff; image-rendering: pixelated; }
        .scan > div { flex: 1 12rem; min-inline-size: 0; }
        .scan li + li { margin-block-start: .375rem; }
        .scan .clock { margin-block: .75rem 0; }
        .items { margin: 1.25rem 0 0; padding: 0; list-style: none; border-block-end: 1px solid var(--line); }
        .items li { padding-block: .75rem; border-block-start: 1px solid var(--line); }
        .items b { display: block; font-weight: 600; }
        .items + p { margin-block-start: 1rem; }

        @media (max-width: 29.99rem) {
          .acts > :not(.link) { flex-basis: 100%; }
          .acts * + .link { margin-inline-start: 0; }
        }
        @media (min-width: 60rem) {
          body { grid-template: 1fr auto / minmax(22rem, 30%) minmax(0, 1fr); }
          header { padding: calc(5.5rem - 4px) 3rem 2rem; border-block-end: 0; }
          .who { display: block; font-size: 1.0625rem; line-height: 1.5; }
          header .client { font-size: 1.5rem; }
          .logo { max-inline-size: 176px; max-block-size: 60px; margin-block-end: 1rem; }
          dl { margin-block-start: 2rem; }
          dl > div { padding-block: .6875rem; }
          main { grid-area: 1 / 2 / 3; padding-block: 5.5rem 3rem; padding-inline: 6rem 2rem; }
          h1 { font-size: 2.125rem; }
          footer { padding: 0 3rem 2rem; border: 0; background: var(--panel); }
        }
        @media (forced-colors: active) {
          .filled, .way.filled { border: 3px solid; }
          .line { border: 1px solid; }
          .link, footer .link { color: LinkText; }
          .logo, .scan img { forced-color-adjust: none; }
        }

        """
}
