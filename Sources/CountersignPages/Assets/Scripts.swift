extension PageAssets {
    /// The text of a script.
    static func source(of script: Script) -> String {
        switch script {
        case .clock: clockScript
        case .wait: waitScript
        case .onward: onwardScript
        case .passkey: passkeyScript
        case .work: workScript
        case .solve: solvingScript
        }
    }

    /// The class `live` on the root says that scripts run: the stylesheet then shows `.if-live` and hides `.if-still`.
    ///
    /// The server's clock counts, not the browser's: `data-now` is the moment at which the page was made.
    private static let clockScript = """
        const root = document.documentElement;
        const status = () => document.querySelector("[role=status]");
        const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
        const loadedAt = Date.now();

        function say(text) {
          status().className = "";
          status().textContent = text;
        }

        function count(clock) {
          const { begins, ends, now, shows, saysEnd } = clock.dataset;
          const left = () => Math.max(0, ends - now - (Date.now() - loadedAt) / 1000);
          const words = new Map([[60, clock.dataset.says60], [30, clock.dataset.says30], [10, clock.dataset.says10]]);
          const line = clock.querySelector(".line span");
          const steps = Math.ceil(left() / 10) || 1;
          line?.animate(
            { inlineSize: [`${Math.min(100, 100 * left() / (ends - begins))}%`, "0%"] },
            { duration: 1000 * left(), fill: "forwards", easing: isCalm ? `steps(${steps})` : "linear" });
          let before = left();
          function tick() {
            const seconds = Math.ceil(left());
            clock.querySelector(".left").textContent =
              `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
            for (const [mark, text] of words) {
              if (text && before > mark && seconds <= mark && seconds > mark - 5) say(text);
            }
            before = seconds;
            if (seconds > 0) {
              setTimeout(tick, 1000 * (left() % 1) + 20);
            } else if (shows) {
              clock.hidden = true;
              document.getElementById(shows).classList.remove("if-still");
              say(saysEnd);
            }
          }
          tick();
        }

        root.classList.add("live");
        document.querySelectorAll("[data-ends]").forEach(count);

        """

    /// Asks for the outcome until there is one, says it, and goes where the server says, on our own host only.
    ///
    /// What is said may be below the edge of a small screen: the page scrolls there at once, so that nothing moves.
    private static let waitScript = """
        const wait = document.querySelector("[data-state]");
        const status = document.querySelector("[role=status]");
        const pause = seconds => new Promise(done => setTimeout(done, 1000 * seconds));
        let seen = "open";

        async function ask() {
          const reply = await fetch(`${wait.dataset.state}?wait=25&seen=${seen}`, {
            headers: { accept: "application/json" }, cache: "no-store", credentials: "same-origin",
            redirect: "error", signal: AbortSignal.timeout(40000),
          });
          if (!reply.ok) throw new Error(`status ${reply.status}`);
          return reply.json();
        }

        function go(next) {
          const target = new URL(next, location);
          if (target.origin === location.origin) location.replace(target);
        }

        addEventListener("pageshow", event => { if (event.persisted) location.reload(); });

        for (let failures = 0; ;) {
          const begun = Date.now();
          try {
            const { state, next } = await ask();
            failures = 0;
            if (state !== seen && wait.dataset[state]) {
              status.className = "shown";
              status.textContent = wait.dataset[state];
              status.scrollIntoView({ block: "nearest" });
            }
            seen = state;
            if (["approved", "declined", "ended", "offered"].includes(state)) {
              await pause(1);
              go(next);
              break;
            }
          } catch {
            failures = Math.min(failures + 1, 5);
          }
          await pause(Math.max(2 ** failures - (Date.now() - begun) / 1000, failures));
        }

        """

    /// Submits the form that carries the answer, but not again when one comes back to the page.
    private static let onwardScript = """
        const [visit] = performance.getEntriesByType("navigation");
        if (visit?.type !== "back_forward") document.getElementById("onward").submit();

        """

    /// Asks the browser for a passkey when a button is pressed, or when one is chosen below a field, and posts it.
    ///
    /// A browser that cannot read the options gets no class `live`, so that it is treated like one without scripts.
    /// There is one ceremony at a time: the one below the field ends when the button is pressed, and begins anew when
    /// nothing came of it. The hidden field is taken out at once, so that no other button posts it when one comes back.
    /// Where a passkey can sign in, every form says so if the browser keeps passkeys behind a screen lock: after a sign-in
    /// by something else, the server then offers one.
    private static let passkeyScript = """
        const { PublicKeyCredential: passkeys } = window;
        const button = document.querySelector("[data-passkey-get], [data-passkey-create]");
        const status = document.querySelector("[role=status]");
        let isBusy = false;
        let below;

        function say(text) {
          status.className = "shown";
          status.textContent = text;
          status.scrollIntoView({ block: "nearest" });
        }

        async function ask(how) {
          const { passkeyGet, passkeyCreate } = button.dataset;
          if (passkeyGet) {
            const publicKey = passkeys.parseRequestOptionsFromJSON(JSON.parse(passkeyGet));
            return navigator.credentials.get({ publicKey, ...how });
          }
          const publicKey = passkeys.parseCreationOptionsFromJSON(JSON.parse(passkeyCreate));
          return navigator.credentials.create({ publicKey });
        }

        function add(form, name, value) {
          const field = document.createElement("input");
          Object.assign(field, { type: "hidden", name, value });
          form.append(field);
          return field;
        }

        async function tell() {
          if (!await passkeys.isUserVerifyingPlatformAuthenticatorAvailable()) return;
          for (const form of document.querySelectorAll("form")) add(form, "passkeys", "kept");
        }

        function send(credential) {
          const field = add(button.form, "credential", JSON.stringify(credential.toJSON()));
          button.form.action = button.formAction;
          button.form.submit();
          field.remove();
        }

        async function offerBelow() {
          if (!document.querySelector("[autocomplete~=webauthn]")) return;
          if (!await passkeys.isConditionalMediationAvailable?.() || isBusy) return;
          below?.abort();
          below = new AbortController();
          try {
            send(await ask({ mediation: "conditional", signal: below.signal }));
            isBusy = true;
          } catch {
            // The button was pressed, or the browser itself has said why nothing came of it.
          }
        }

        async function press(event) {
          event.preventDefault();
          if (isBusy) return;
          isBusy = true;
          status.textContent = "";
          below?.abort();
          try {
            send(await ask());
          } catch ({ name }) {
            const { saysCancelled, saysExists, saysFailed } = button.dataset;
            const texts = { NotAllowedError: saysCancelled, AbortError: saysCancelled, InvalidStateError: saysExists };
            say(texts[name] ?? saysFailed);
            isBusy = false;
            offerBelow();
          }
        }

        if (passkeys?.parseRequestOptionsFromJSON && passkeys.parseCreationOptionsFromJSON) {
          document.documentElement.classList.add("live");
          button?.addEventListener("click", press);
          if (button?.dataset.passkeyGet) tell();
          addEventListener("pageshow", event => {
            if (event.persisted) isBusy = false;
            if (button) offerBelow();
          });
        }

        """
}
