// Going through the inbox by keys. Without this script every button is a form that leads back to the list.
(() => {
  const find = (selector, within = document) => within.querySelector(selector);
  const findAll = (selector, within = document) => [...within.querySelectorAll(selector)];

  // Pressed on another page it opens our form; nothing is sent from there. Here there is nothing to save.
  for (const link of findAll("[data-bookmarklet]")) {
    const open = `open(${JSON.stringify(`${link.dataset.bookmarklet}?url=`)}+encodeURIComponent(location.href),"gna","width=560,height=720")`;
    link.href = `javascript:void ${open}`;
    link.hidden = false;
    link.addEventListener("click", (event) => event.preventDefault());
  }

  const form = find("[data-triage]");
  if (form) enhanceTriage(form);

  function enhanceTriage(form) {
    const list = find(".mails", form), toast = find("[data-toast]"), said = find("[data-said]"), undoButton = find("[data-undo]");
    const everything = form.dataset.list === "ALL", waiting = find("[data-waiting]");
    const STATES = { bookmark: "BOOKMARKED", archive: "ARCHIVED", restore: "INBOX", dismiss: "" };
    const BACK = { BOOKMARKED: "bookmark", ARCHIVED: "archive", INBOX: "restore" };
    const DONE = { bookmark: "Saved", archive: "Archived", restore: "Back in the inbox", dismiss: "Dismissed" };
    const LABELS = { BOOKMARKED: "Bookmarked", ARCHIVED: "Archived", INBOX: "Inbox", "": "Dismissed" };
    const cards = () => [...list.children];
    const isChosen = (card) => find("[name=id]", card).checked;
    const title = (card) => find("h2", card).textContent.replace("(new tab)", "").trim();
    const done = []; // what can be taken back, the latest last
    let current = null;

    const say = (text, canUndo = false) => {
      said.textContent = text;
      undoButton.hidden = !canUndo;
      clearTimeout(say.timer);
      if (text) say.timer = setTimeout(() => say(""), canUndo ? 12000 : 7000);
    };

    const select = (card) => {
      if (!card) return;
      current = card;
      card.focus();
      card.scrollIntoView({ block: "nearest" });
    };
    list.addEventListener("focusin", (event) => { current = event.target.closest(".mails > li"); });

    // Our own server's answer about each entry; null if there is none, or somebody has to sign in again first.
    async function send(fields) {
      const body = new URLSearchParams(fields);
      wait(1);
      const answer = await fetch(form.action, { method: "POST", body, keepalive: true, headers: { Accept: "application/json" } }).catch(() => null);
      const results = answer?.ok ? await answer.json().then(({ results }) => results, () => null) : null;
      wait(-1);
      return results;
    }

    let unanswered = 0;
    const wait = (change) => {
      unanswered += change;
      list.setAttribute("aria-busy", unanswered > 0);
    };

    const count = (change) => {
      if (waiting && /^\d+$/.test(waiting.textContent)) waiting.textContent = Math.max(0, Number(waiting.textContent) + change);
    };

    function show() {
      const chosen = cards().filter(isChosen).length, left = cards().length;
      find("[data-selected]", form).textContent = chosen ? `${chosen} selected` : "Nothing selected";
      find("[data-all]", form).textContent = chosen === left ? "Select none" : "Select all";
      form.hidden = !left;
      find("[data-done]").hidden = left > 0;
    }

    // On the list of everything a card stays, and says where it is now.
    function place(card, state) {
      card.dataset.state = state;
      if (!everything) return;
      find("[data-chip]", card).textContent = LABELS[state];
      for (const [name, at] of Object.entries(STATES)) find(`button[name=${name}]`, card).hidden = at === state;
    }

    function leave(moved) {
      const all = cards(), places = moved.map((card) => ({ card, state: card.dataset.state, next: card.nextElementSibling }));
      const following = all.slice(all.indexOf(moved.at(-1)) + 1).find((card) => !moved.includes(card));
      const before = all.slice(0, all.indexOf(moved[0])).findLast((card) => !moved.includes(card));
      for (const { card } of places) {
        find("[name=id]", card).checked = false;
        if (!everything) card.remove();
      }
      if (!everything) select(following || before);
      show();
      return places;
    }

    function putBack(places) {
      for (const { card, state, next } of [...places].reverse()) {
        if (!everything) list.insertBefore(card, next?.parentElement === list ? next : null);
        place(card, state);
      }
      show();
      select(places[0]?.card);
    }

    async function act(name, moved) {
      const chosen = moved.filter((card) => card.dataset.state !== STATES[name]);
      if (!chosen.length) return;
      const places = leave(chosen), many = chosen.length > 1;
      for (const { card } of places) place(card, STATES[name]);
      count(places.filter(({ state }) => state === "INBOX").length * -1 + (name === "restore" ? places.length : 0));
      const what = many ? `${chosen.length} items` : `“${title(chosen[0])}”`;
      say(`${DONE[name]}: ${what}`, true);
      const act = { name, places, answer: settle(name, places) };
      done.push(act);
      await act.answer;
    }

    // One request for those that were in the same list. What somebody else has moved meanwhile is told, not overwritten.
    async function settle(name, places) {
      const answers = new Map();
      for (const state of new Set(places.map((one) => one.state))) {
        const together = places.filter((one) => one.state === state);
        const results = await send([["act", name], ["expected", state || "none"], ["state", form.dataset.list], ...together.map(({ card }) => ["id", card.dataset.id])]);
        if (!results) {
          putBack(together);
          count(together.length * (state === "INBOX" ? 1 : 0));
          say("Not done: there is no connection to the server, or you have to sign in again. Reload the page.");
          continue;
        }
        for (const result of results) answers.set(result.id, result);
      }
      const refused = [...answers.values()].filter((result) => !result.ok);
      if (refused.length) {
        const first = places.find(({ card }) => card.dataset.id === refused[0].id);
        say(refused.length > 1 ? `${refused.length} items were moved meanwhile, and are where somebody else put them.` : `“${title(first.card)}”: ${refused[0].error}.`);
      }
      return answers;
    }

    async function undo() {
      const last = done.pop();
      if (!last) return say("Nothing to undo");
      const answers = await last.answer;
      const places = last.places.filter(({ card }) => answers.get(card.dataset.id)?.ok);
      if (!places.length) return;
      putBack(places);
      count(places.filter(({ state }) => state === "INBOX").length - (last.name === "restore" ? places.length : 0));
      say(`Taken back: ${places.length > 1 ? `${places.length} items` : `“${title(places[0].card)}”`}`, done.length > 0);
      for (const state of new Set(places.map((one) => one.state))) {
        const ids = places.filter((one) => one.state === state).map(({ card }) => card.dataset.id);
        const tokens = ids.map((id) => answers.get(id).undo).filter(Boolean);
        const fields = tokens.length ? [["act", "undo"], ...tokens.map((token) => ["undo", token])] : [["act", BACK[state] || "dismiss"], ["expected", STATES[last.name] || "none"], ["state", form.dataset.list], ...ids.map((id) => ["id", id])];
        const results = await send(fields);
        if (!results || results.some((result) => !result.ok)) say(results ? `${results.find((result) => !result.ok).error}.` : "Not taken back: there is no connection to the server. Reload the page.");
      }
    }

    form.addEventListener("submit", (event) => {
      const { name, value } = event.submitter || {};
      if (name === "act" && value === "compose") return;
      event.preventDefault();
      if (name !== "act") return act(name, [event.submitter.closest(".mails > li")]);
      const chosen = cards().filter(isChosen);
      if (chosen.length) act(value, chosen); else say("Nothing is selected");
    });
    form.addEventListener("change", show);
    undoButton.addEventListener("click", undo);
    const all = find("[data-all]", form);
    all.hidden = false;
    all.addEventListener("click", () => {
      const some = !cards().every(isChosen);
      for (const card of cards()) find("[name=id]", card).checked = some;
      show();
    });
    addEventListener("pageshow", show);

    // A key acts on what is selected, or else on the card one is at.
    const help = find("[data-help]"), on = find("[data-keys-on]", help);
    on.checked = localStorage.getItem("inbox keys") !== "off";
    on.addEventListener("change", () => localStorage.setItem("inbox keys", on.checked ? "on" : "off"));
    const opener = find("[data-keys]");
    opener.hidden = false;
    opener.addEventListener("click", () => help.showModal());
    const targets = () => { const chosen = cards().filter(isChosen); return chosen.length ? chosen : current?.isConnected ? [current] : []; };
    const step = (by) => { const all = cards(), at = all.indexOf(current); select(all[at < 0 ? 0 : Math.min(Math.max(at + by, 0), all.length - 1)]); };
    const perform = (name) => { const chosen = targets(); if (chosen.length) act(name, chosen); };
    const KEYS = {
      j: () => step(1),
      k: () => step(-1),
      o: () => current && find("h2 a", current)?.click(),
      s: () => perform("bookmark"),
      e: () => perform("archive"),
      "#": () => perform("dismiss"),
      i: () => perform("restore"),
      u: undo,
      x: () => { const box = current && find("[name=id]", current); if (box) { box.checked = !box.checked; show(); } },
      n: () => current && find("[data-note]", current)?.click(),
      c: () => { const button = find("button[value=compose]", form); if (!button || !targets().length) return; for (const card of targets()) find("[name=id]", card).checked = true; button.click(); },
      "/": () => find("#q").select(),
      "?": () => help.showModal(),
    };
    addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || help.open) return;
      if (event.target.closest?.("input:not([type=checkbox]), textarea, select, [contenteditable]")) return;
      if (!on.checked || !Object.hasOwn(KEYS, event.key)) return;
      event.preventDefault();
      KEYS[event.key]();
    });
  }
})();
