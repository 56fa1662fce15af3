extension PageAssets {
    /// Has the puzzle of the page solved, says so, and sends the form with the solution.
    ///
    /// Not again when one comes back to the page, which would then be left at once. Where the puzzle cannot be solved,
    /// the page is treated like one without scripts.
    static let workScript = """
        const root = document.documentElement;
        const form = document.getElementById("work");
        const status = document.querySelector("[role=status]");
        const { seed, bits, solver, saysWorking, saysSolved, saysFailed } = form.dataset;
        const [visit] = performance.getEntriesByType("navigation");
        let worker;

        function say(text) {
          status.className = text && "shown";
          status.textContent = text;
        }

        function stop(text) {
          worker?.terminate();
          root.classList.remove("live");
          say(text);
        }

        function send(nonce) {
          worker.terminate();
          say(saysSolved);
          const field = document.createElement("input");
          Object.assign(field, { type: "hidden", name: "nonce", value: nonce });
          form.append(field);
          form.submit();
          field.remove();
        }

        if (seed && visit?.type !== "back_forward") {
          root.classList.add("live");
          try {
            worker = new Worker(solver);
            worker.onmessage = ({ data }) => send(data);
            worker.onerror = () => stop(saysFailed);
            worker.postMessage({ seed, bits });
            say(saysWorking);
          } catch {
            stop(saysFailed);
          }
        }
        addEventListener("pageshow", event => { if (event.persisted) stop(""); });

        """

    /// Looks for the number with which the hash begins with enough zero bits.
    ///
    /// SHA-256 stands here, since the browser's own answers by a promise each time, which takes ten times as long. The
    /// message is one block: 32 bytes of the page, four of the number, and what ends it. The constants are computed.
    static let solvingScript = """
        const primes = [];
        for (let n = 2; primes.length < 64; n++) if (primes.every(prime => n % prime)) primes.push(n);
        const fraction = root => root % 1 * 2 ** 32 | 0;
        const keys = Int32Array.from(primes, prime => fraction(Math.cbrt(prime)));
        const start = Int32Array.from(primes.slice(0, 8), prime => fraction(Math.sqrt(prime)));

        function firstWord(w) {
          for (let i = 16; i < 64; i++) {
            const x = w[i - 15], y = w[i - 2];
            w[i] = w[i - 16] + w[i - 7] + ((x >>> 7 | x << 25) ^ (x >>> 18 | x << 14) ^ x >>> 3)
              + ((y >>> 17 | y << 15) ^ (y >>> 19 | y << 13) ^ y >>> 10);
          }
          let a = start[0], b = start[1], c = start[2], d = start[3];
          let e = start[4], f = start[5], g = start[6], h = start[7];
          for (let i = 0; i < 64; i++) {
            const s = h + ((e >>> 6 | e << 26) ^ (e >>> 11 | e << 21) ^ (e >>> 25 | e << 7))
              + (e & f ^ ~e & g) + keys[i] + w[i];
            const t = ((a >>> 2 | a << 30) ^ (a >>> 13 | a << 19) ^ (a >>> 22 | a << 10)) + (a & b ^ a & c ^ b & c);
            h = g, g = f, f = e, e = d + s | 0, d = c, c = b, b = a, a = s + t | 0;
          }
          return a + start[0] | 0;
        }

        onmessage = ({ data: { seed, bits } }) => {
          const w = new Int32Array(64);
          w.set(seed.match(/.{8}/g).map(word => parseInt(word, 16)));
          w[9] = 1 << 31;
          w[15] = 288;
          for (w[8] = 0; Math.clz32(firstWord(w)) < bits; w[8]++);
          postMessage(w[8] >>> 0);
        };

        """
}
