import Encodings

/// The page of the shop.
enum ShopPage {
    /// The page for whoever is signed in.
    static func html(for customer: ShopSignIn.Customer?) -> String {
        let who =
            customer.map { customer in
                """
                <form class="who" method="post" action="/sign-out"><span>\(HTMLText.escaped(customer.name))\
                \(customer.isVerified ? " ✓" : "")</span> <button class="quiet">Sign out</button></form>
                """
            } ?? #"<a class="who" href="/sign-in">Sign in</a>"#
        return html.replacing("<!-- who -->", with: who)
    }

    private static let html = """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>ACME · Checkout</title>
        <link rel="stylesheet" href="/shop.css">
        </head>
        <body>
        <header class="bar">
          <span class="brand"><span class="mark" aria-hidden="true">▲</span> ACME</span>
          <nav aria-label="Checkout steps"><span>Cart</span><span>Address</span><span class="here">Payment</span></nav>
          <!-- who -->
        </header>
        <main>
          <section class="order" aria-label="Your order">
            <div class="picture" aria-hidden="true">
              <svg viewBox="0 0 200 170">
                <rect x="34" y="22" width="132" height="92" rx="12" fill="#7a4a2b"/>
                <rect x="34" y="22" width="132" height="30" rx="12" fill="#8d5a37"/>
                <rect x="46" y="62" width="108" height="10" rx="5" fill="#e9e4dd"/>
                <circle cx="64" cy="38" r="7" fill="#f4efe8"/><circle cx="88" cy="38" r="7" fill="#f4efe8"/>
                <rect x="110" y="32" width="42" height="12" rx="6" fill="#3b2a20"/>
                <rect x="92" y="72" width="16" height="22" rx="3" fill="#c9c2b8"/>
                <path d="M80 118h40l-5 26a6 6 0 0 1-6 5H91a6 6 0 0 1-6-5z" fill="#fff" stroke="#d8d1c7" stroke-width="2"/>
                <path d="M120 124h8a8 8 0 0 1 0 16h-10" fill="none" stroke="#d8d1c7" stroke-width="3"/>
                <rect x="24" y="150" width="152" height="10" rx="5" fill="#5b3722"/>
              </svg>
            </div>
            <h1>Espresso machine, walnut</h1>
            <p class="muted">Dual boiler · 58 mm group · ships tomorrow</p>
            <dl>
              <div><dt>Machine</dt><dd>EUR 1,229.00</dd></div>
              <div><dt>Insured shipping</dt><dd>EUR 21.00</dd></div>
              <div class="total"><dt>Total</dt><dd>EUR 1,250.00</dd></div>
            </dl>
          </section>
          <section class="pay" aria-live="polite">
            <div id="start">
              <h2>Pay by bank transfer</h2>
              <p class="muted">To ACME GmbH, DE89 3704 0044 0532 0130 00. You confirm on your phone; nothing is
              charged before you do.</p>
              <button id="button" type="button">Pay EUR 1,250.00 to ACME GmbH</button>
              <p id="problem" class="problem" role="alert" hidden></p>
            </div>
            <div id="waiting" hidden>
              <h2>Confirm on your phone</h2>
              <p class="muted">Type this number into your phone, where the payment is shown:</p>
              <p id="number" class="number" aria-label="Number to type"></p>
              <p class="muted pulse"><span class="dot" aria-hidden="true"></span> Waiting for your phone · <span id="clock"></span></p>
            </div>
            <div id="approved" hidden>
              <p class="badge good" aria-hidden="true">✓</p>
              <h2>Payment approved</h2>
              <p class="muted">Your phone signed this receipt. It can be checked by anyone, at any time, with nothing
              of ours installed:</p>
              <pre id="receipt" tabindex="0"></pre>
              <p class="muted">Check it with <code>gpg</code>:</p>
              <div class="commands"><pre id="commands" tabindex="0"></pre><button id="copy" type="button">Copy</button></div>
              <p><a id="receiptLink" download="receipt.asc">receipt.asc</a> · <a id="certificateLink" download="certificate.asc">certificate.asc</a></p>
            </div>
            <div id="refused" hidden>
              <p class="badge bad" aria-hidden="true">!</p>
              <h2 id="refusedTitle"></h2>
              <p id="refusedText" class="muted"></p>
              <button id="again" type="button" class="quiet">Start again</button>
            </div>
          </section>
        </main>
        <footer>A demonstration of Countersign. No money moves.</footer>
        <script src="/shop.js"></script>
        </body>
        </html>
        """

    static let style = """
        :root { --ink: #1f1a17; --muted: #6d645d; --paper: #faf8f5; --card: #fff; --line: #e8e2da; --accent: #14532d;
          --good: #15803d; --bad: #b91c1c; }
        * { box-sizing: border-box; }
        body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, "Segoe UI", Roboto,
          "Helvetica Neue", "DejaVu Sans", sans-serif; }
        .bar { display: flex; justify-content: space-between; align-items: center; padding: 18px 32px;
          background: var(--card); border-bottom: 1px solid var(--line); }
        .brand { font-weight: 700; letter-spacing: .12em; } .mark { color: var(--accent); }
        nav span { margin-left: 24px; color: var(--muted); font-size: 14px; }
        .who { display: flex; gap: 12px; align-items: center; font-size: 14px; color: var(--ink); }
        nav .here { color: var(--ink); font-weight: 600; border-bottom: 2px solid var(--accent); padding-bottom: 4px; }
        main { max-width: 1040px; margin: 40px auto; padding: 0 24px; display: grid; gap: 28px;
          grid-template-columns: minmax(280px, 5fr) 7fr; align-items: start; }
        section { background: var(--card); border: 1px solid var(--line); border-radius: 16px; padding: 28px;
          box-shadow: 0 1px 2px rgba(40, 30, 20, .04), 0 8px 24px rgba(40, 30, 20, .05); min-width: 0; }
        .picture { background: #f3ede5; border-radius: 12px; padding: 18px; text-align: center; }
        .picture svg { width: 200px; max-width: 100%; }
        h1 { font-size: 20px; margin: 20px 0 2px; } h2 { font-size: 22px; margin: 0 0 8px; }
        .muted { color: var(--muted); margin: 0 0 16px; }
        dl { margin: 20px 0 0; } dl div { display: flex; justify-content: space-between; padding: 8px 0; }
        dt { color: var(--muted); } dd { margin: 0; font-variant-numeric: tabular-nums; }
        .total { border-top: 1px solid var(--line); margin-top: 8px; font-weight: 700; } .total dt { color: var(--ink); }
        button { font: inherit; font-weight: 600; color: #fff; background: var(--accent); border: 0; border-radius: 10px;
          padding: 14px 22px; width: 100%; cursor: pointer; }
        button:hover { background: #0f3f22; } button:focus-visible, a:focus-visible, pre:focus-visible {
          outline: 3px solid #86efac; outline-offset: 2px; } button[disabled] { opacity: .6; cursor: wait; }
        .quiet { background: #efe9e1; color: var(--ink); } .quiet:hover { background: #e4dcd1; }
        .number { font: 700 56px/1.1 ui-monospace, "SF Mono", Menlo, "DejaVu Sans Mono", monospace; letter-spacing: .18em;
          text-align: center; background: #f1f7f2; border: 1px solid #cfe5d4; border-radius: 14px; padding: 26px 8px;
          margin: 8px 0 20px; color: var(--accent); }
        .dot { display: inline-block; width: 9px; height: 9px; border-radius: 50%; background: var(--good);
          animation: pulse 1.4s ease-in-out infinite; } @keyframes pulse { 50% { opacity: .25; } }
        .badge { width: 52px; height: 52px; border-radius: 50%; color: #fff; font-size: 28px; display: grid;
          place-items: center; margin: 0 0 14px; } .good { background: var(--good); } .bad { background: var(--bad); }
        pre { background: #f7f4ef; border: 1px solid var(--line); border-radius: 10px; padding: 14px 16px; margin: 0 0 16px;
          overflow-x: auto; font: 13px/1.5 ui-monospace, "SF Mono", Menlo, "DejaVu Sans Mono", monospace; }
        #receipt { max-height: 340px; overflow: auto; } .commands { position: relative; }
        .commands button { position: absolute; top: 8px; right: 8px; width: auto; padding: 5px 12px; font-size: 13px; }
        a { color: var(--accent); } .problem { color: var(--bad); margin: 14px 0 0; }
        footer { text-align: center; color: var(--muted); font-size: 13px; padding: 8px 24px 40px; }
        @media (max-width: 760px) { main { grid-template-columns: 1fr; margin: 20px auto; } .number { font-size: 40px; } }
        @media (prefers-reduced-motion: reduce) { .dot { animation: none; } }
        """

    static let script = """
        "use strict";
        const part = (id) => document.getElementById(id);
        const show = (id) => ["start", "waiting", "approved", "refused"].forEach((name) => { part(name).hidden = name !== id; });
        const refusals = {
          declined: ["Payment declined", "You said no on your phone. Nothing was charged."],
          reported: ["Payment reported", "You told us that this was not you. Nothing was charged; we are looking into it."],
          wrong_number: ["Wrong number", "The number typed on the phone was not the one shown here. Nothing was charged."],
          expired: ["Time is up", "Your phone did not answer in time. Nothing was charged."],
          cancelled: ["Payment cancelled", "Nothing was charged."],
        };
        let timer;

        function countDown(end) {
          clearInterval(timer);
          const tick = () => {
            const left = Math.max(0, Math.round((end - Date.now()) / 1000));
            part("clock").textContent = Math.floor(left / 60) + ":" + String(left % 60).padStart(2, "0");
          };
          tick();
          timer = setInterval(tick, 500);
        }

        async function finish(id, outcome) {
          clearInterval(timer);
          if (outcome.state !== "approved") {
            const [title, text] = refusals[outcome.reason] || refusals[outcome.state] || ["Payment failed", "Nothing was charged."];
            part("refusedTitle").textContent = title;
            part("refusedText").textContent = text;
            show("refused");
            return;
          }
          const base = location.origin + "/payments/" + id;
          part("receipt").textContent = await (await fetch(base + "/receipt.asc")).text();
          part("commands").textContent = [
            "export GNUPGHOME=$(mktemp -d)",
            "curl -sO " + base + "/receipt.asc",
            "curl -sO " + base + "/certificate.asc",
            "gpg --import certificate.asc",
            "gpg --verify receipt.asc",
          ].join("\\n");
          part("receiptLink").href = base + "/receipt.asc";
          part("certificateLink").href = base + "/certificate.asc";
          show("approved");
        }

        async function pay() {
          part("button").disabled = true;
          part("problem").hidden = true;
          try {
            const reply = await fetch("/payments", { method: "POST", headers: { "content-type": "application/json" }, body: "{}" });
            if (!reply.ok) throw new Error("status " + reply.status);
            const payment = await reply.json();
            part("number").textContent = payment.number;
            countDown(Date.parse(payment.expires_at));
            show("waiting");
            const events = new EventSource("/payments/" + payment.id + "/events");
            events.onmessage = (message) => {
              const outcome = JSON.parse(message.data);
              if (outcome.state === "pending") return;
              events.close();
              finish(payment.id, outcome);
            };
          } catch (error) {
            part("problem").textContent = "The payment could not be started (" + error.message + "). Please try again.";
            part("problem").hidden = false;
          } finally {
            part("button").disabled = false;
          }
        }

        part("button").addEventListener("click", pay);
        part("again").addEventListener("click", () => show("start"));
        part("copy").addEventListener("click", async () => {
          await navigator.clipboard.writeText(part("commands").textContent);
          part("copy").textContent = "Copied";
          setTimeout(() => { part("copy").textContent = "Copy"; }, 1500);
        });
        """
}
