"use strict";
// Progressive enhancement only: without this script every page still works, by its links and forms.
(() => {
  const find = (selector, within = document) => within.querySelector(selector);
  const findAll = (selector, within = document) => [...within.querySelectorAll(selector)];
  const debounce = (call, wait) => {
    let timer;
    return () => { clearTimeout(timer); timer = setTimeout(call, wait); };
  };
  const number = new Intl.NumberFormat("en");
  const clock = { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" };

  // Times arrive in UTC. Show them in the browser's time zone, with UTC as the tooltip.
  const local = new Intl.DateTimeFormat("en-GB", clock);
  for (const time of findAll("time[data-local]")) {
    time.title = time.textContent;
    time.textContent = local.format(new Date(time.dateTime));
  }

  // A notice says what was just done: reloading the page, or a bookmark of it, must not say it again.
  const noticed = new URL(location.href);
  if (find("[data-notice]") && noticed.searchParams.has("notice")) {
    noticed.searchParams.delete("notice");
    history.replaceState(history.state, "", noticed);
  }

  // On a phone the navigation scrolls sideways: bring the current page's entry into view.
  const current = find(".side [aria-current]");
  if (current && matchMedia("(max-width: 60rem)").matches) current.scrollIntoView({ inline: "center", block: "nearest" });

  // On a phone the CSS turns rows into cards, and some browsers then drop the table roles: state them.
  const roles = { TABLE: "table", THEAD: "rowgroup", TBODY: "rowgroup", TR: "row", TD: "cell" };
  for (const part of findAll(".rows, .rows :is(thead, tbody, tr, th, td)")) {
    part.setAttribute("role", roles[part.tagName] || (part.scope === "col" ? "columnheader" : "rowheader"));
  }

  // No selector matches a frame that has the focus: mark it, so that the style sheet can show it.
  const markFrames = () => findAll(".frame").forEach((frame) => frame.classList.toggle("focused", frame.contains(document.activeElement)));
  for (const event of ["focusin", "blur"]) addEventListener(event, markFrames);

  const offerCopies = (within) => {
    for (const button of findAll("[data-copy]", within)) {
      button.hidden = false;
      button.addEventListener("click", async () => {
        const text = find(button.dataset.copy).textContent.trim();
        button.textContent = await navigator.clipboard.writeText(text).then(() => "Copied", () => "Copying is not allowed: select the text");
      });
    }
  };
  offerCopies(document);

  // Suggest known sources and tags once a field is used; in a comma-separated list, for what follows the last comma.
  let known;
  for (const field of findAll("[data-known]")) {
    const list = Object.assign(document.createElement("datalist"), { id: `${field.id}-known` });
    const offer = async () => {
      known ??= fetch("/admin/api/subscribers/words").then((answer) => answer.json()).catch(() => ({}));
      const words = (await known)[field.dataset.known] || [];
      const before = "many" in field.dataset ? field.value.replace(/[^,]*$/, "") : "";
      const used = before.split(",").map((word) => word.trim());
      const unused = words.filter((word) => !used.includes(word)).map((word) => before + (before && " ") + word);
      list.replaceChildren(...unused.map((value) => Object.assign(document.createElement("option"), { value })));
    };
    field.after(list);
    field.setAttribute("list", list.id);
    for (const event of ["focus", "input"]) field.addEventListener(event, offer);
  }

  const post = async (path, body) => {
    const answer = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }).catch(() => null);
    const found = await answer?.json().catch(() => null);
    if (!answer?.ok || !found) throw new Error(found?.error || "Unavailable right now");
    return found;
  };

  // A second click on a button must not send the form again. Whoever comes back to the page can send it again.
  for (const form of findAll("form[data-once]")) {
    form.addEventListener("submit", (event) => { if (form.dataset.sent) event.preventDefault(); else form.dataset.sent = "yes"; });
  }
  addEventListener("pageshow", (event) => { if (event.persisted) findAll("form[data-once]").forEach((form) => delete form.dataset.sent); });

  const aim = find("[data-aim]");
  if (aim) {
    const count = counter(aim);
    aim.addEventListener("input", count);
    count();
  }
  const live = find("[data-live]");
  if (live) enhanceLive(live);
  const imported = find("[data-import]");
  if (imported) enhanceImport(imported);
  const job = find("[data-job]");
  if (job) followJob(job);
  const maker = find("[data-maker]");
  if (maker) enhanceMaker(maker);
  const schedule = find("[data-schedule]");
  if (schedule) enhanceSchedule(schedule);
  const test = find("[data-test]");
  if (test) enhanceTest(test);
  const progress = find("[data-progress]");
  if (progress) followProgress(progress);
  keepFocus();
  // What the script of pages with an editor uses, too.
  window.gna = { find, findAll, debounce, number, previewer, readAim, writeAim, counter, enhanceSegments };

  // A saved form comes back as a new page: go on where the editor was, with the notice in view, and say it again now
  // that somebody listens.
  function keepFocus() {
    const key = (element) => element.id || (element.name ? `${element.name}=${element.value}` : element.textContent.trim());
    const place = JSON.parse(sessionStorage.getItem("place") || "null");
    sessionStorage.removeItem("place");
    const notice = find("main > .notice[role]");
    const element = notice && place && findAll("form :is(input, select, textarea, button)").find((one) => key(one) === place.key);
    if (element) {
      element.focus();
      if (place.caret) element.setSelectionRange(...place.caret);
      notice.classList.add("kept");
      setTimeout(() => notice.append(...notice.childNodes), 200);
    }
    addEventListener("submit", ({ target: form, submitter, defaultPrevented }) => {
      if (form.method !== "post" || submitter?.formTarget || defaultPrevented) return;
      const active = form.contains(document.activeElement) ? document.activeElement : submitter;
      const caret = active?.selectionStart == null ? null : [active.selectionStart, active.selectionEnd];
      if (active) sessionStorage.setItem("place", JSON.stringify({ key: key(active), caret }));
    });
  }

  const selection = find("[data-selection]");
  if (selection) enhanceSelection(selection);

  const searching = find("[data-rest]");
  if (searching) goOnSearching(searching);

  // A long search goes on by itself, and ends when the page is left. Beyond a hundred people, by its link.
  async function goOnSearching(status) {
    const leaving = new AbortController(), rows = find(".rows tbody");
    addEventListener("pagehide", () => leaving.abort());
    while (status.dataset.rest && rows.children.length < 100) {
      const answer = await fetch(status.dataset.rest, { signal: leaving.signal }).catch(() => null);
      if (!answer?.ok) return;
      const found = new DOMParser().parseFromString(await answer.text(), "text/html");
      rows.append(...findAll(".rows tbody tr", found));
      for (const part of findAll("tr, th, td", rows)) part.setAttribute("role", roles[part.tagName] || "rowheader");
      const next = find("[data-found]", found);
      status.dataset.rest = next.dataset.rest || "";
      status.replaceChildren(...next.childNodes);
      selection?.dispatchEvent(new Event("input"));
    }
  }

  // Say how many people are selected, and offer to select all of this page.
  function enhanceSelection(form) {
    const every = () => findAll("input[name=id]", form), output = find("[data-selected]", form);
    const all = Object.assign(document.createElement("input"), { type: "checkbox" });
    all.setAttribute("aria-label", "Select everyone on this page");
    find("thead .pick", form).append(all);
    const show = () => {
      const boxes = every(), chosen = boxes.filter((box) => box.checked).length;
      output.textContent = chosen ? `${chosen === 1 ? "1 person" : `${number.format(chosen)} people`} selected` : "";
      all.checked = chosen > 0 && chosen === boxes.length;
      all.indeterminate = chosen > 0 && chosen < boxes.length;
    };
    all.addEventListener("change", () => { for (const box of every()) box.checked = all.checked; show(); });
    form.addEventListener("input", (event) => { if (event.target !== all) show(); });
    addEventListener("pageshow", show);
  }

  // Load each preview into a new frame and swap it in when ready: no flicker, and no history entries to step back through.
  function previewer(form) {
    const update = find("[data-preview]", form);
    update.hidden = true;
    const draw = () => {
      if (!navigator.onLine) return addEventListener("online", draw, { once: true });
      const old = find("iframe:not(.loading)", form);
      findAll("iframe.loading", form).forEach((frame) => frame.remove());
      const frame = old.cloneNode();
      frame.removeAttribute("src");
      frame.classList.add("loading");
      frame.name = "preview-" + Date.now();
      old.after(frame);
      frame.addEventListener("load", () => {
        if (!frame.isConnected || !frame.dataset.submitted) return;
        old.remove();
        frame.classList.remove("loading");
      });
      frame.dataset.submitted = "yes";
      update.formTarget = frame.name;
      form.requestSubmit(update);
    };
    return draw;
  }

  // What is typed and not saved yet is not left behind unasked; Ctrl+S saves it.
  function guard(form, isChange) {
    let changed = false;
    form.addEventListener("input", (event) => { changed = changed || isChange(event.target); });
    form.addEventListener("submit", (event) => { if (!("preview" in (event.submitter?.dataset ?? {}))) changed = false; });
    addEventListener("beforeunload", (event) => { if (changed) event.preventDefault(); });
    addEventListener("keydown", (event) => {
      if ((event.ctrlKey || event.metaKey) && event.key === "s") {
        event.preventDefault();
        form.requestSubmit(find("button[value=save]", form));
      }
    });
  }

  function offerZones(form) {
    const zones = Intl.supportedValuesOf ? ["UTC", ...Intl.supportedValuesOf("timeZone")] : [];
    find("datalist", form).append(...zones.map((name) => Object.assign(document.createElement("option"), { value: name })));
  }

  function enhanceLive(form) {
    const draw = previewer(form);
    form.addEventListener("input", debounce(draw, 400));
    guard(form, (field) => !["look", "view"].includes(field.name));
    offerZones(form);
    draw();
  }

  // What the fields of a targeting say, as the API takes it; `read` may read what they said when the page was opened.
  function readAim(form, read = (field) => field.value, audience = form.elements.audience.value) {
    const terms = (kind) => Object.fromEntries(["any", "all", "none"].map((how) => [how, read(form.elements[`${kind}_${how}`]).split(",").map((word) => word.trim()).filter(Boolean)]));
    const day = (name) => read(form.elements[name]) || null;
    return audience === "some" ? { sources: terms("sources"), tags: terms("tags"), joined_after: day("joined_after"), joined_before: day("joined_before") } : {};
  }

  // The reverse: the fields say this. What was too long for the page is there now, so nothing about it is omitted.
  function writeAim(form, aim) {
    const set = (name, value) => { form.elements[name].value = value; for (const notice of findAll(`[data-omitted=${name}], #omitted-${name}`, form)) notice.remove(); };
    for (const kind of ["sources", "tags"]) for (const how of ["any", "all", "none"]) set(`${kind}_${how}`, (aim[kind]?.[how] ?? []).join(", "));
    for (const day of ["joined_after", "joined_before"]) set(day, aim[day] ?? "");
  }

  // Say how many people the fields of a targeting reach, a moment after the last change.
  function counter(form) {
    const output = find("[data-count]", form);
    let latest = 0;
    return debounce(async () => {
      const request = ++latest;
      output.textContent = "Counting…";
      let answer;
      try {
        const { recipients } = await post("/admin/api/campaigns/audience", { aim: readAim(form) });
        answer = recipients === 1 ? "1 person" : `${number.format(recipients)} people`;
      } catch (failure) {
        answer = failure.message;
      }
      if (request === latest) output.textContent = answer;
    }, 500);
  }

  // Choosing a segment fills the fields; what they say can be saved as one. Without scripts, buttons do both.
  function enhanceSegments(form) {
    const choose = form.elements.segment, save = find("[data-save-segment]", form), said = find("[data-said]", save.closest("details"));
    find("[data-use-segment]", form)?.remove();
    save.type = "button";
    const fill = (segment) => {
      writeAim(form, segment);
      form.elements.audience.value = "some";
      form.elements.joined_after.dispatchEvent(new Event("input", { bubbles: true }));
    };
    choose?.addEventListener("input", async (event) => {
      event.stopPropagation();
      const answer = choose.value && await fetch("/admin/api/segments?count=false").catch(() => null);
      const { items } = answer?.ok ? await answer.json() : {};
      const found = items?.find(({ id }) => id === choose.value);
      if (found) fill(found);
      else if (choose.value) find("[data-count]", form).textContent = items ? "This segment was deleted" : "Unavailable right now";
    });
    save.addEventListener("click", async () => {
      const name = form.elements.segment_name.value;
      try {
        const made = await post("/admin/api/segments", { name, aim: readAim(form) });
        said.textContent = `Saved as “${made.name}”.`;
        form.elements.segment_name.value = "";
        choose?.append(new Option(made.name, made.id, false, true));
      } catch (failure) {
        said.textContent = failure.message;
      }
    });
    form.elements.segment_name.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); save.click(); } });
    for (const name of ["segment", "segment_name"]) form.elements[name]?.addEventListener("input", (event) => event.stopPropagation());
    // A segment that was too long for the page.
    if (choose && form.elements.from_segment) {
      choose.value = form.elements.from_segment.value;
      choose.dispatchEvent(new Event("input"));
    }
  }

  // Write the snippet anew while somebody chooses. What was refused stays in the form, with the reason from the server.
  function enhanceMaker(form) {
    find("[data-update]", form).hidden = true;
    let latest = 0;
    const draw = debounce(async () => {
      const request = ++latest, url = `${form.action}?${new URLSearchParams([...new FormData(form)].filter(([, value]) => value))}`;
      const answer = await fetch(url).catch(() => null);
      if (!answer || request !== latest) return;
      const found = new DOMParser().parseFromString(await answer.text(), "text/html");
      const made = find("[data-made]", found), refusal = find("main > .notice[role]", found);
      if (!made || request !== latest) return;
      find("main > .notice.bad")?.remove();
      if (refusal) return find("main").prepend(refusal);
      find("[data-made]").replaceWith(made);
      offerCopies(made);
      history.replaceState(history.state, "", url);
    }, 400);
    form.addEventListener("input", draw);
  }

  // A file that is too large for a form goes straight to the bucket, with progress; the page of the import then reads it.
  function enhanceImport(form) {
    const file = form.elements.file, shown = find("[data-upload]", form), bar = find("progress", shown), said = find("[data-said]", shown);
    find("[data-without]", form).hidden = true;
    find("[data-with]", form).hidden = false;
    const say = (text, bad) => { shown.hidden = false; bar.hidden = Boolean(bad); said.textContent = text; said.classList.toggle("warning", Boolean(bad)); };
    const upload = (url, data) => new Promise((resolve) => {
      const request = new XMLHttpRequest();
      let told = -1;
      request.upload.addEventListener("progress", ({ loaded, total, lengthComputable }) => {
        if (!lengthComputable) return;
        const percent = Math.round(100 * loaded / total);
        bar.value = percent;
        // Screen readers read every change of the status: ten are enough.
        if (Math.floor(percent / 10) > told) { told = Math.floor(percent / 10); say(`Uploading: ${percent} percent`); }
      });
      for (const event of ["load", "error", "abort", "timeout"]) request.addEventListener(event, () => resolve(request.status >= 200 && request.status < 300));
      request.open("POST", url);
      request.send(data);
    });
    const deliver = async (chosen) => {
      const kind = /\.zip$/i.test(chosen.name) ? "application/zip" : "text/csv";
      const announced = await post("/admin/api/imports", { size: chosen.size, content_type: kind, name: chosen.name });
      const data = new FormData();
      for (const [name, value] of Object.entries(announced.upload.fields)) data.append(name, value);
      data.append("file", chosen);
      if (!await upload(announced.upload.url, data)) throw new Error("The file could not be uploaded. Try again in a moment, or zip it: up to 4 MB it is sent in the form.");
      say("Uploaded. Reading it…");
      await post(`/admin/api/imports/${announced.id}/read`, {});
      location.assign(`/admin/imports/${announced.id}`);
    };
    form.addEventListener("submit", async (event) => {
      const chosen = file.files[0];
      if (!chosen || chosen.size <= Number(form.dataset.import)) return;
      event.preventDefault();
      if (chosen.size > Number(form.dataset.most)) say("This file has more than 100 MB: zip it, or split it.", true);
      else await deliver(chosen).catch((failure) => say(failure.message, true));
      delete form.dataset.sent;
    });
  }

  // What a worker has done so far, every other second; when it is over, the page says the rest.
  function followJob(card) {
    const bar = find("progress", card), announce = find("[data-announce]", card);
    let told = 0;
    find("[data-reload]", card).hidden = true;
    const show = (selector, value) => { const place = find(selector, card); if (place) place.textContent = number.format(value); };
    const poll = async () => {
      let wait = 2000;
      try {
        const found = await (await fetch(card.dataset.job)).json();
        if (found.state !== card.dataset.state) return location.reload();
        const rows = found.rows ?? found.people;
        show("[data-done]", found.done); show("[data-rows]", rows); show("[data-removed]", found.removed); show("[data-changed]", found.changed);
        show("[data-result=done]", found.done);
        for (const [name, count] of Object.entries(found.counts ?? {})) show(`[data-result=${name}]`, count);
        if (bar && rows) Object.assign(bar, { max: rows, value: found.done });
        const tenth = rows ? Math.floor(10 * found.done / rows) : 0;
        if (tenth > told) announce.textContent = `${tenth * 10} percent done`;
        told = Math.max(told, tenth);
      } catch {
        wait = 10000;
      }
      setTimeout(poll, wait);
    };
    setTimeout(poll, 1000);
  }

  // Only this tab knows to whom the last test went.
  function enhanceTest(form) {
    const box = find("textarea", form);
    box.value = sessionStorage.getItem("tests") || box.value;
    form.addEventListener("submit", () => sessionStorage.setItem("tests", box.value));
  }

  function enhanceSchedule(form) {
    const at = form.elements.scheduled_at, zone = form.elements.time_zone, output = find("[data-utc]", form);
    const mine = Intl.DateTimeFormat().resolvedOptions().timeZone;
    if ("guess" in zone.dataset && mine) zone.value = mine;
    offerZones(form);
    const offset = (moment, name) => {
      const parts = new Intl.DateTimeFormat("en-US", { timeZone: name, hourCycle: "h23", year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit" }).formatToParts(moment);
      const part = (type) => Number(parts.find((found) => found.type === type).value);
      return Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute")) - moment;
    };
    // As the server does it: when the clocks go back, a repeated time means its first occurrence; when they go forward,
    // a skipped time is counted with the offset from before the change.
    const resolve = (wall, name) => {
      const [before, after] = [-1, 1].map((days) => offset(wall + days * 86400000, name));
      const second = wall - after;
      return offset(wall - before, name) !== before && offset(second, name) === after ? second : wall - before;
    };
    const describe = () => {
      if (!at.value) return;
      try {
        const wall = new Date(at.value + "Z").getTime();
        const moment = resolve(wall, zone.value), there = moment + offset(moment, zone.value);
        const changed = there === wall ? "" : ` The clocks change that night: local time will be ${new Date(there).toISOString().slice(11, 16)}.`;
        output.textContent = `That is ${new Intl.DateTimeFormat("en-GB", { ...clock, timeZone: "UTC" }).format(moment)} UTC.${changed}`;
      } catch {
        output.textContent = "A time zone such as Europe/Berlin, or UTC.";
      }
    };
    form.addEventListener("input", describe);
    describe();
  }

  function followProgress(card) {
    const bar = find("progress", card);
    let announced = 0;
    const show = (name, value) => { find(`[data-${name}]`, card).textContent = number.format(value); };
    const poll = async () => {
      let wait = 2000;
      try {
        const answer = await fetch(card.dataset.progress);
        const found = await answer.json();
        const delivery = found.deliveries.find((delivery) => delivery.id === card.dataset.delivery);
        const wave = delivery.wave, told = find("[data-wave]", card)?.dataset.wave;
        if (delivery.state !== "sending" || (wave && `${wave.number} ${wave.state}`) !== (told || null)) return location.reload();
        if (wave) for (const name of ["sent", "bounced", "complained"]) show(`wave-${name}`, wave[name]);
        if (wave && wave.state !== "sending") wait = 15000;
        const done = delivery.sent_count + delivery.failure_count + delivery.unknown_count;
        if (found.expected) Object.assign(bar, { max: Math.max(found.expected, done), value: done });
        show("done", done); show("total", done);
        show("sent", delivery.sent_count); show("failed", delivery.failure_count); show("unknown", delivery.unknown_count);
        const tenth = found.expected ? Math.floor(10 * done / found.expected) : 0;
        if (tenth > announced) find("[data-announce]", card).textContent = `${tenth * 10} percent done`;
        announced = Math.max(announced, tenth);
      } catch {
        wait = 10000;
      }
      setTimeout(poll, wait);
    };
    setTimeout(poll, 1000);
  }
})();
{% include "following/connect.js" %}
