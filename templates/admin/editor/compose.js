  // The page of a campaign: what it says about saving, its preview, its numbers, and the wide view for writing.
  const timeOf = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
  const dayOf = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
  const whenOf = (at) => (new Date(at).toDateString() === new Date().toDateString() ? timeOf : dayOf).format(at);
  const button = (label, call, kind = "quiet small") => {
    const made = make("button", { type: "button", className: kind, textContent: label });
    made.addEventListener("click", call);
    return made;
  };
  const outside = (label, href) => make("a", { className: "button quiet small", href, target: "_blank", rel: "noopener", textContent: label });

  const SAID = {
    new: () => "",
    saved: () => `Saved ${timeOf.format(new Date())}`,
    typing: () => "Not saved yet.",
    missing: ({ missing }) => `Not saved yet: add ${missing}.`,
    byhand: () => "Scheduled: press Save to change what will be sent.",
    away: () => "Not saved: no connection.",
    busy: () => "Not saved: the server is not answering.",
    ended: () => "Not saved: you are signed out.",
    refused: ({ error }) => `Not saved: ${error || "the server refused it"}.`,
    conflict: () => "Not saved: it was changed elsewhere.",
    sent: () => "Not saved: it can no longer be changed.",
    deleted: () => "Not saved: it was deleted.",
  };
  const CALM = ["new", "saved", "typing", "missing", "byhand"], EXPLAINED = ["conflict", "sent", "deleted"];

  function savingView(form, draw) {
    const bar = find("[data-saving]", form), text = find("[data-saved]", form), panels = find("[data-panels]");
    bar.hidden = false;
    const panel = (tone, words, ...actions) => {
      const made = make("div", { className: `notice ${tone} panel` }, make("div", {}, words, make("p", { className: "actions" }, ...actions)));
      made.setAttribute("role", tone === "info" ? "region" : "alert");
      if (tone === "info") made.setAttribute("aria-label", "Text that was not saved");
      panels.replaceChildren(made);
      return made;
    };
    const clear = () => panels.replaceChildren();
    const say = (words, link) => {
      if (text.textContent !== words + (link?.textContent ?? "")) text.replaceChildren(words, ...(link ? [" ", link] : []));
    };
    return {
      typing: () => { bar.dataset.state = "typing"; },
      busy: (busy) => { bar.classList.toggle("busy", busy); },
      show(state, detail) {
        if (state === "saved" && bar.dataset.state === "bad") draw();
        bar.dataset.state = CALM.includes(state) ? state : "bad";
        const kept = CALM.includes(state) && detail.kept && !detail.full ? "" : detail.kept ? " Kept in this browser." : " This browser cannot keep it: leave this page open.";
        if (!detail.quiet || state === "byhand") say(SAID[state](detail) + (state === "saved" || state === "new" ? "" : kept), state === "ended" ? outside("Sign in again", "/admin") : EXPLAINED.includes(state) ? make("a", { href: "#panels", textContent: "What to do" }) : null);
        if (state === "saved") find("main > .notice[data-notice]")?.remove();
        if (state === "saved" && find("[role=alert]", panels)) clear();
      },
      explain(why, { id, data, useTheirs, saveMine }) {
        const words = (title, rest) => make("p", {}, make("strong", { textContent: title }), ` ${rest}`);
        if (why === "deleted") panel("bad", words("This campaign was deleted.", "Your text is still here and kept in this browser: copy it, or start a new campaign with it."), outside("New campaign", "/admin/campaigns/new"));
        if (why === "sent") panel("bad", words("This campaign is being sent or was sent.", "It can no longer be changed. Your text is kept in this browser."), outside("Open its report", `/admin/campaigns/${id}`));
        if (why === "conflict") {
          panel("warn", words(`Saved at ${whenOf(new Date(data.updated_at))} by somebody else, or by you in another tab.`, "Nothing was overwritten. Your text is kept in this browser, and saving has stopped until you choose."),
            outside("See theirs", `/admin/campaigns/${id}/versions`), button("Use theirs", useTheirs), button("Save mine", () => { clear(); saveMine(); }));
        }
      },
      offer(record, { newer, bringBack, discard }) {
        const fields = record.fields, shown = make("pre", { hidden: true, tabIndex: 0, textContent: [fields.subject, fields.body].filter(Boolean).join("\n\n") });
        shown.setAttribute("aria-label", "The text that was not saved");
        const look = button("Look at it", () => { shown.hidden = !shown.hidden; look.setAttribute("aria-expanded", String(!shown.hidden)); });
        look.setAttribute("aria-expanded", "false");
        const words = make("p", { textContent: `There is text from ${whenOf(record.at)} in this browser that was not saved.${newer ? " The campaign was saved elsewhere since; what you bring back replaces the text below." : ""}` });
        panel("info", words, look, button("Bring it back", () => { clear(); bringBack(); find("#body", form).focus(); }), button("Discard", () => { clear(); discard(); })).firstChild.append(shown);
      },
      // The page of a campaign that exists now: its address, steps, and links are those of its own page.
      async created(id) {
        const path = `/admin/campaigns/${id}`;
        history.replaceState(history.state, "", path);
        form.action = path;
        form.prepend(make("input", { type: "hidden", name: "campaign_id", value: id }));
        find("button[value=save]", form).textContent = "Save";
        const answer = await fetch(path, { redirect: "manual" }).catch(() => null);
        if (!answer?.ok) return;
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        for (const part of findAll("[data-of-campaign]")) {
          const made = find(`[data-of-campaign=${part.dataset.ofCampaign}]`, page);
          if (made) part.replaceWith(document.adoptNode(made));
        }
      },
    };
  }

  function enhanceCompose(form, pictures) {
    const body = form.elements.body, draw = showPreview(form);
    const saving = enhanceSaving(form, savingView(form, draw));
    const count = gna.counter(form);
    gna.enhanceSegments(form);
    showNumbers(form, body);
    addWritingView(form, draw);
    const mirrored = { subject: "Your subject", preheader: "" };
    form.addEventListener("input", ({ target }) => {
      for (const place of target.dataset.mirror ? findAll(`[data-shows=${target.dataset.mirror}]`) : []) place.textContent = target.value || mirrored[target.dataset.mirror];
      if (target.closest("[data-audience]")) count(); else if (target.name) draw.soon();
    });
    form.addEventListener("submit", async (event) => {
      if (event.defaultPrevented || "preview" in (event.submitter?.dataset ?? {})) return;
      event.preventDefault();
      if (await saving.save({ asked: true }) && event.submitter?.value === "review") location.assign(`/admin/campaigns/${saving.id()}/review`);
    });
    addEventListener("keydown", (event) => {
      if (!(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey || event.key.toLowerCase() !== "s") return;
      event.preventDefault();
      if (!event.repeat) saving.save({ asked: true });
    });
    saveBeforeLeaving(saving, pictures);
    Promise.all(findAll("[data-omitted]", form).map((marker) => fill(form, marker, saving))).then(() => {
      count();
      draw();
      if (saving.isChanged()) saving.touch();
      saving.offer();
    });
  }

  // The next page shows what is saved: save first, and stay if it is about this campaign and that failed.
  function saveBeforeLeaving(saving, pictures) {
    const isUnsaved = () => saving.isChanged() && !saving.isByHand() && !saving.isStopped() && !pictures.isBusy();
    document.addEventListener("click", async (event) => {
      const link = event.target.closest?.("a[href]");
      if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
      if (link.target || link.origin !== location.origin || (link.pathname === location.pathname && link.hash) || !isUnsaved()) return;
      event.preventDefault();
      const done = await Promise.race([saving.save(), wait(5000)]);
      if (done || !saving.id() || !link.pathname.startsWith(`/admin/campaigns/${saving.id()}`)) location.assign(link.href);
    });
    addEventListener("submit", async (event) => {
      if (event.target.matches("[data-compose]") || event.defaultPrevented || !isUnsaved()) return;
      event.preventDefault();
      if (await saving.save()) event.target.submit();
    });
  }

  // Fetch what was too long for the page. A field stays read-only meanwhile, and if the fetch fails, saving keeps what is stored.
  async function fill(form, marker, saving) {
    const name = marker.dataset.omitted, field = form.elements[name];
    if (field.value) return;
    const link = find(`#omitted-${name} a`, form);
    if (!link) return;
    field.readOnly = true;
    const answer = await fetch(link.href).catch(() => null);
    field.readOnly = false;
    if (!answer?.ok || !answer.headers.get("Content-Type").startsWith("text/plain")) return;
    field.value = await answer.text();
    field.required = name === "body";
    link.closest("p").remove();
    marker.remove();
    saving.loaded(name);
  }

  // The preview is drawn when typing pauses, later for a long text, and not at all while nobody sees it.
  function showPreview(form) {
    const redraw = gna.previewer(form), frame = find(".preview", form), body = form.elements.body;
    const draw = () => { if (frame.checkVisibility()) redraw(); };
    let timer;
    return Object.assign(draw, { soon: () => { clearTimeout(timer); timer = setTimeout(draw, body.textLength > 20000 ? 1200 : 400); } });
  }

  // Words as a reader reads them: without markup and addresses. Where there are no spaces, two characters are a word.
  const MARKUP = /<[^>]*>|\]\([^)]*\)|https?:\/\/\S+|\{\{[^}]*\}\}/g;
  const DENSE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/gu;
  function countWords(text) {
    const plain = text.replace(MARKUP, " "), dense = plain.match(DENSE)?.length ?? 0;
    return (plain.replace(DENSE, " ").match(/[\p{L}\p{N}]+(?:['’.,-][\p{L}\p{N}]+)*/gu)?.length ?? 0) + Math.ceil(dense / 2);
  }

  function showNumbers(form, body) {
    const output = find("[data-words]", form);
    const show = () => {
      const words = countWords(withoutMarkers(body.value)), minutes = Math.max(1, Math.round(words / 230));
      output.textContent = words ? `${gna.number.format(words)} ${words === 1 ? "word" : "words"} · ${minutes} min read` : "";
    };
    body.addEventListener("input", debounce(show, 500));
    show();
  }

  const WRITING = "gna-writing";
  function addWritingView(form, draw) {
    const bar = find(".tools", form), tool = toolButton("writing", "Wide writing view", "");
    const set = (on) => {
      document.documentElement.classList.toggle("writing", on);
      tool.setAttribute("aria-pressed", String(on));
      tool.dataset.tip = on ? "Leave the writing view" : "Wide writing view";
    };
    tool.classList.add("apart");
    bar.append(tool);
    let on = false;
    try { on = localStorage.getItem(WRITING) === "yes"; } catch { /* not remembered */ }
    set(on);
    tool.addEventListener("click", () => {
      on = !on;
      set(on);
      try { localStorage.setItem(WRITING, on ? "yes" : "no"); } catch { /* not remembered */ }
      if (!on) draw();
    });
  }
