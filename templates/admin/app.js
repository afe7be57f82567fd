"use strict";
// Everything here is a comfort: without it each page still works, by its links and forms.
(() => {
  const one = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const later = (call, wait) => {
    let timer;
    return () => { clearTimeout(timer); timer = setTimeout(call, wait); };
  };
  const number = new Intl.NumberFormat("en");
  const clock = { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" };

  // Times are written in UTC; here they become the reader's own, with UTC one hover away.
  const local = new Intl.DateTimeFormat("en-GB", clock);
  for (const time of all("time[data-local]")) {
    time.title = time.textContent;
    time.textContent = local.format(new Date(time.dateTime));
  }

  // On a phone the rooms scroll sideways: show the one we are in.
  const here = one(".side [aria-current]");
  if (here && matchMedia("(max-width: 60rem)").matches) here.scrollIntoView({ inline: "center", block: "nearest" });

  // On a phone a row is a card, and some browsers then forget that it was a row.
  const roles = { TABLE: "table", THEAD: "rowgroup", TBODY: "rowgroup", TR: "row", TD: "cell" };
  for (const part of all(".rows, .rows :is(thead, tbody, tr, th, td)")) {
    part.setAttribute("role", roles[part.tagName] || (part.scope === "col" ? "columnheader" : "rowheader"));
  }

  for (const button of all("[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(one(button.dataset.copy).textContent.trim());
      button.textContent = "Copied";
    });
  }

  // Sources and tags that are known are offered once somebody wants to write one; in a list, after its last comma.
  let known;
  for (const field of all("[data-known]")) {
    const list = Object.assign(document.createElement("datalist"), { id: `${field.id}-known` });
    const offer = async () => {
      known ??= fetch("/admin/api/subscribers/words").then((answer) => answer.json()).catch(() => ({}));
      const words = (await known)[field.dataset.known] || [];
      const before = "many" in field.dataset ? field.value.replace(/[^,]*$/, "") : "";
      const taken = before.split(",").map((word) => word.trim());
      const left = words.filter((word) => !taken.includes(word)).map((word) => before + (before && " ") + word);
      list.replaceChildren(...left.map((value) => Object.assign(document.createElement("option"), { value })));
    };
    field.after(list);
    field.setAttribute("list", list.id);
    for (const moment of ["focus", "input"]) field.addEventListener(moment, offer);
  }

  const post = async (path, body) => {
    const answer = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }).catch(() => null);
    const found = await answer?.json().catch(() => null);
    if (!answer?.ok || !found) throw new Error(found?.error || "Unavailable right now");
    return found;
  };

  const compose = one("[data-compose]");
  if (compose) composing(compose);
  const schedule = one("[data-schedule]");
  if (schedule) scheduling(schedule);
  const progress = one("[data-progress]");
  if (progress) watching(progress);

  function composing(form) {
    const update = one("[data-preview]", form);
    update.hidden = true;
    // A new frame each time, shown when it is ready: nothing flickers, and *back* does not step through previews.
    const draw = () => {
      const old = one("iframe:not(.coming)", form);
      all("iframe.coming", form).forEach((frame) => frame.remove());
      const frame = old.cloneNode();
      frame.removeAttribute("src");
      frame.classList.add("coming");
      frame.name = "letter-" + Date.now();
      old.after(frame);
      frame.addEventListener("load", () => {
        if (!frame.isConnected || !frame.dataset.asked) return;
        old.remove();
        frame.classList.remove("coming");
      });
      frame.dataset.asked = "yes";
      update.formTarget = frame.name;
      form.requestSubmit(update);
    };
    const soon = later(draw, 400);
    const mirrored = { subject: "Your subject", preheader: "" };
    let changed = false;
    form.addEventListener("input", (event) => {
      changed = changed || event.target.name !== "look";
      const mirror = event.target.dataset.mirror;
      if (mirror) one(`[data-shows=${mirror}]`, form).textContent = event.target.value || mirrored[mirror];
      if (event.target.closest("[data-audience]")) count(); else soon();
    });
    form.addEventListener("submit", (event) => { if (event.submitter !== update) changed = false; });
    addEventListener("beforeunload", (event) => { if (changed) event.preventDefault(); });
    addEventListener("keydown", (event) => {
      if ((event.ctrlKey || event.metaKey) && event.key === "s") {
        event.preventDefault();
        form.requestSubmit(one("button[value=save]", form));
      }
    });

    const output = one("[data-count]", form);
    let asked = 0;
    const count = later(async () => {
      const turn = ++asked;
      const terms = (kind) => Object.fromEntries(["any", "all", "none"].map((how) => [how, form.elements[`${kind}_${how}`].value.split(",").map((word) => word.trim()).filter(Boolean)]));
      const aim = form.elements.audience.value === "some" ? { sources: terms("sources"), tags: terms("tags") } : {};
      output.textContent = "Counting…";
      let said;
      try {
        const { recipients } = await post("/admin/api/campaigns/audience", { aim });
        said = recipients === 1 ? "1 person" : `${number.format(recipients)} people`;
      } catch (failure) {
        said = failure.message;
      }
      if (turn === asked) output.textContent = said;
    }, 500);
    // What was too long for the page comes after it. Until it is there, and if it does not come, nothing is overwritten.
    const fill = async (marker) => {
      const name = marker.dataset.held, field = form.elements[name];
      if (field.value) return;
      field.readOnly = true;
      const link = one(`#held-${name} a`, form);
      const answer = await fetch(link.href).catch(() => null);
      field.readOnly = false;
      if (!answer?.ok || !answer.headers.get("Content-Type").startsWith("text/plain")) return;
      field.value = await answer.text();
      field.required = name === "body";
      link.closest("p").remove();
      marker.remove();
    };
    Promise.all(all("[data-held]", form).map(fill)).then(() => { count(); draw(); });
  }

  function scheduling(form) {
    const at = form.elements.scheduled_at, zone = form.elements.time_zone, output = one("[data-utc]", form);
    const mine = Intl.DateTimeFormat().resolvedOptions().timeZone;
    if ("guess" in zone.dataset && mine) zone.value = mine;
    const zones = Intl.supportedValuesOf ? ["UTC", ...Intl.supportedValuesOf("timeZone")] : [];
    one("datalist", form).append(...zones.map((name) => Object.assign(document.createElement("option"), { value: name })));
    const offset = (moment, name) => {
      const parts = new Intl.DateTimeFormat("en-US", { timeZone: name, hourCycle: "h23", year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit" }).formatToParts(moment);
      const part = (type) => Number(parts.find((found) => found.type === type).value);
      return Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute")) - moment;
    };
    // As the server reads it: of an hour that comes twice the first is meant, and one that is left out is counted on
    // from before the clocks are changed.
    const meant = (wall, name) => {
      const [before, after] = [-1, 1].map((days) => offset(wall + days * 86400000, name));
      const later = wall - after;
      return offset(wall - before, name) !== before && offset(later, name) === after ? later : wall - before;
    };
    const say = () => {
      if (!at.value) return;
      try {
        const wall = new Date(at.value + "Z").getTime();
        const moment = meant(wall, zone.value), there = moment + offset(moment, zone.value);
        const changed = there === wall ? "" : ` The clocks change that night: local time will be ${new Date(there).toISOString().slice(11, 16)}.`;
        output.textContent = `That is ${new Intl.DateTimeFormat("en-GB", { ...clock, timeZone: "UTC" }).format(moment)} UTC.${changed}`;
      } catch {
        output.textContent = "A time zone such as Europe/Berlin, or UTC.";
      }
    };
    form.addEventListener("input", say);
    say();
  }

  function watching(card) {
    const bar = one("progress", card);
    let told = 0;
    const show = (name, value) => { one(`[data-${name}]`, card).textContent = number.format(value); };
    const look = async () => {
      let wait = 2000;
      try {
        const answer = await fetch(card.dataset.progress);
        const found = await answer.json();
        const delivery = found.deliveries.find((delivery) => delivery.id === card.dataset.delivery);
        if (delivery.state !== "sending") return location.reload();
        const done = delivery.sent_count + delivery.failure_count + delivery.unknown_count;
        if (found.expected) Object.assign(bar, { max: Math.max(found.expected, done), value: done });
        show("done", done); show("total", done);
        show("sent", delivery.sent_count); show("failed", delivery.failure_count); show("unknown", delivery.unknown_count);
        const tenth = found.expected ? Math.floor(10 * done / found.expected) : 0;
        if (tenth > told) one("[data-said]", card).textContent = `${tenth * 10} percent sent`;
        told = Math.max(told, tenth);
      } catch {
        wait = 10000;
      }
      setTimeout(look, wait);
    };
    setTimeout(look, 1000);
  }
})();
