// Connecting an account: OAuth 2 with PKCE. The verifier is made here and stays in this tab until the provider has
// sent the browser back; a code that came while nobody was signed in waits in the tab as well.
(() => {
  const find = (selector, within = document) => within.querySelector(selector);
  const beginning = find("[data-connect]"), callback = find("[data-callback]"), following = find("[data-following]");
  if (beginning) enhanceConnect(beginning);
  if (callback) completeConnection(callback);
  if (following && sessionStorage.getItem(`connecting ${following.dataset.api}`)) location.replace(following.dataset.following);

  // What our own server answers to JSON: its status, and why it refused.
  async function tell(path, body) {
    const answer = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }).catch(() => null);
    const found = await answer?.json().catch(() => null);
    const reason = found?.error || "There is no connection to the server. Please try again in a moment";
    return { ok: Boolean(answer?.ok && found), status: answer?.status, reason: `${reason}.` };
  }

  function enhanceConnect(box) {
    const { connect: provider, api, authorize, parameters, redirect, here, signIn } = box.dataset;
    const button = find("[data-begin]", box), said = find("[data-said]", box);
    find("[data-without]", box).hidden = true;
    const say = (text) => { said.textContent = text; said.classList.toggle("bad", Boolean(text)); };
    // The provider sends the browser back to one address, and what this tab keeps is kept for one address: they have
    // to be the same before anything begins. So localhost becomes 127.0.0.1 here.
    if (new URL(here).origin !== location.origin) {
      if (location.hash !== "#moved") return location.replace(`${here}#moved`);
      return say(`Please open this page at ${new URL(here).origin}, where the provider will send you back to.`);
    }
    if (!crypto.subtle) return say("Connecting an account needs an address that begins with https.");
    button.hidden = false;
    button.addEventListener("click", async () => {
      if (button.hasAttribute("aria-disabled")) return;
      button.setAttribute("aria-disabled", "true");
      say("");
      const base64 = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
      const state = crypto.randomUUID(), verifier = base64(crypto.getRandomValues(new Uint8Array(48)));
      const challenge = base64(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier)));
      const answer = await tell(`${api}/connections/state`, { provider, state });
      if (answer.status === 401 && signIn) return location.assign(signIn);
      if (!answer.ok) {
        button.removeAttribute("aria-disabled");
        return say(answer.reason);
      }
      for (const key of Object.keys(sessionStorage)) if (key.startsWith("connect ")) sessionStorage.removeItem(key);
      sessionStorage.setItem(`connect ${state}`, JSON.stringify({ verifier, provider }));
      const asked = { ...JSON.parse(parameters), response_type: "code", redirect_uri: redirect, state, code_challenge: challenge, code_challenge_method: "S256" };
      location.assign(`${authorize}?${new URLSearchParams(asked)}`);
    });
    // Whoever comes back from the provider's page by the history can begin again.
    addEventListener("pageshow", (event) => { if (event.persisted) button.removeAttribute("aria-disabled"); });
  }

  async function completeConnection(box) {
    const { api, home, signIn, labels } = box.dataset;
    const title = find("[data-title]", box), said = find("[data-said]", box), again = find("[data-again]", box);
    const waiting = `connecting ${api}`, asked = new URLSearchParams(location.search);
    history.replaceState(history.state, "", location.pathname);
    const place = `connect ${asked.get("state")}`, kept = JSON.parse(sessionStorage.getItem(place) || "null");
    sessionStorage.removeItem(place);
    if (!said) return;
    const fail = (text) => {
      title.textContent = "Not connected";
      said.setAttribute("role", "alert");
      said.textContent = text;
    };
    const code = asked.get("code");
    const given = code ? kept && { provider: kept.provider, code, state: asked.get("state"), code_verifier: kept.verifier } : JSON.parse(sessionStorage.getItem(waiting) || "null");
    sessionStorage.removeItem(waiting);
    if (!given && !code) return;
    const lost = find("[data-lost]", box).content.textContent.trim();
    if (!given) return fail(lost);
    const complete = async () => {
      again.hidden = true;
      title.textContent = `Connecting ${JSON.parse(labels)[given.provider]}…`;
      said.setAttribute("role", "status");
      said.textContent = "One moment, please.";
      const answer = await tell(`${api}/connections/callback`, given);
      if (answer.ok) return location.replace(`${home}?notice=connected`);
      if (answer.status === 401 && signIn) {
        sessionStorage.setItem(waiting, JSON.stringify(given));
        return location.replace(signIn);
      }
      fail(answer.reason === "Invalid state." ? lost : answer.reason);
      // A state works once. Without an answer it may not have been used yet.
      again.hidden = Boolean(answer.status);
    };
    again.addEventListener("click", complete);
    await complete();
  }
})();
