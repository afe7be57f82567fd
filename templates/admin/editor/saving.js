  // A call of the API, and what became of it: `ok`, `conflict`, `refused`, `gone`, `busy` (try again), `away` (no
  // connection) or `ended` (nobody is signed in: Cloudflare Access answers with a redirect or a page).
  async function ask(method, path, body, options = {}) {
    const headers = { Accept: "application/json", ...(body && { "Content-Type": "application/json" }) };
    const answer = await fetch(path, { method, headers, body, redirect: "manual", signal: AbortSignal.timeout(25000), ...options }).catch(() => null);
    if (!answer) return { kind: "away" };
    if (answer.type === "opaqueredirect" || answer.status === 401 || answer.status === 403) return { kind: "ended" };
    const data = await answer.json().catch(() => null);
    if (answer.ok) return data ? { kind: "ok", data, date: answer.headers.get("Date") } : { kind: "ended" };
    return { kind: { 400: "refused", 404: "gone", 409: "conflict", 413: "refused" }[answer.status] || "busy", error: data?.error };
  }

  const API = "/admin/api/campaigns", SOON = 2000, KEEP_SOON = 700, AT_LEAST = 20000, LARGEST_KEEPALIVE = 60000;
  const FIELDS = ["subject", "preheader", "format", "design", "body", "text"];
  const KINDS = ["sources", "tags"], HOWS = ["any", "all", "none"], DAYS = ["joined_after", "joined_before"];

  // As `debounce`, but somebody who never pauses does not wait for ever.
  function settle(call, pause, most) {
    let timer, since = 0;
    const run = () => { clearTimeout(timer); since = 0; call(); };
    return () => {
      since ||= Date.now();
      clearTimeout(timer);
      timer = setTimeout(run, Math.max(0, Math.min(pause, since + most - Date.now())));
    };
  }

  // A value in the form in which the server stores it, so that the two can be compared.
  function normal(name, value) {
    if (name === "aim") return JSON.stringify([KINDS.map((kind) => HOWS.map((how) => (value?.[kind]?.[how] ?? []).map((word) => word.toLowerCase()))), DAYS.map((day) => value?.[day] || null)]);
    return name === "body" || name === "text" ? (value ?? "").trimEnd() : (value ?? "").trim();
  }

  // Saves a campaign by itself. The states are those of `show`; only `attempt` decides which comes next.
  function enhanceSaving(form, view) {
    let id = form.elements.campaign_id?.value || "", version = Number(form.elements.version.value) || null;
    let state = "new", running = null, retry = 0, timer;
    let byHand = "byhand" in form.dataset, stopped = false;
    // Calls whose answers were lost: the draft that may exist, and the edits that may have arrived.
    let creating = null, doubtful = [];
    const kept = keeper(id || "new");

    const isOmitted = (name) => Boolean(find(`[data-omitted=${name}]`, form));
    const read = (all = false) => {
      const found = {};
      for (const name of FIELDS) {
        const field = form.elements[name];
        if (field && (!isOmitted(name) || (all && field.value.trim()))) found[name] = name === "design" ? field.value || null : withoutMarkers(field.value);
      }
      if (!KINDS.some((kind) => HOWS.some((how) => isOmitted(`${kind}_${how}`)))) found.aim = gna.readAim(form);
      return found;
    };
    // What the page came with. The browser may have filled the form with what somebody typed before they reloaded it.
    const original = () => {
      const chosen = (name) => [...form.elements[name]].find((one) => one.defaultChecked)?.value;
      const given = (field) => (field.options ? ([...field.options].find((one) => one.defaultSelected) ?? field.options[0]).value : field.defaultValue);
      const found = read();
      for (const name of Object.keys(found)) if (name !== "aim") found[name] = form.elements[name].length && !form.elements[name].options ? chosen(name) : given(form.elements[name]);
      if (found.aim) found.aim = gna.readAim(form, (field) => field.defaultValue, chosen("audience"));
      return found;
    };
    let saved = id ? original() : {};
    const changes = (fields) => Object.fromEntries(Object.entries(fields).filter(([name, value]) => normal(name, value) !== normal(name, saved[name])));
    const isBlank = (fields) => !id && !["subject", "preheader", "body", "text"].some((name) => fields[name]?.trim());
    const isChanged = (fields = read(true)) => Object.keys(changes(fields)).length > 0 && !isBlank(fields);

    const keep = (fields = read(true)) => {
      if (!isChanged(fields)) { kept.drop(); return true; }
      return kept.put({ at: Date.now(), base: version, creating, fields });
    };
    const show = (next, detail) => { state = next; view.show(next, { ...detail, kept: isSettled(next) || keep() }); };
    const isSettled = (next) => next === "saved" || next === "new";

    const later = () => { clearTimeout(timer); timer = setTimeout(save, Math.min(60000, 3000 * 2 ** retry++) * (0.8 + 0.4 * Math.random())); };
    const keepSoon = settle(() => { if (!keep()) show(state === "saved" ? "typing" : state, { full: true }); }, KEEP_SOON, 5000);
    const saveSoon = settle(() => save(), SOON, AT_LEAST);

    // One request at a time; who comes later waits, and finds out what is still to be saved.
    const save = async (how = {}) => {
      while (running) await running;
      clearTimeout(timer);
      running = attempt(how).finally(() => { running = null; });
      return running;
    };

    const attempt = async ({ asked = false, leaving = false } = {}) => {
      const fields = read(asked), edits = changes(fields);
      if (!isChanged(fields)) { if (asked || state !== "new") show(id ? "saved" : "new", {}); kept.drop(); return Boolean(id); }
      if (stopped) { keep(); return false; }
      const missing = !fields.subject?.trim() ? "a subject" : "body" in fields && !fields.body.trim() ? "some text" : "";
      if (missing) { show("missing", { missing }); return false; }
      if (byHand && !asked) { show("byhand", {}); return false; }
      keep();
      if (!id && leaving) return false;
      view.busy(true);
      const outcome = await (id ? update(edits, leaving, asked) : create(fields));
      view.busy(false);
      return after(outcome, asked);
    };

    const after = (outcome, asked) => {
      if (outcome.kind === "ok") {
        retry = 0;
        doubtful = [];
        version = outcome.data.version;
        form.elements.version.value = version;
        Object.assign(saved, outcome.sent);
        show("saved", { asked });
        if (isChanged()) touch(); else kept.drop();
        return true;
      }
      if (outcome.kind === "stopped") return false;
      show(outcome.kind, { error: outcome.error });
      if (["away", "busy", "ended"].includes(outcome.kind)) later();
      return false;
    };

    const update = async (edits, leaving, asked, tries = 0) => {
      const body = JSON.stringify({ ...edits, version, autosave: !asked });
      const keepalive = leaving && new Blob([body]).size <= LARGEST_KEEPALIVE;
      const answer = await ask("PATCH", `${API}/${id}`, body, keepalive ? { keepalive } : {});
      if (answer.kind === "gone") return stop("deleted");
      if (["away", "busy", "ended"].includes(answer.kind)) doubtful = [edits, ...doubtful.slice(0, 4)];
      if (answer.kind !== "conflict") return { ...answer, sent: edits };
      return tries < 3 ? compare(edits, asked, tries, answer.error) : { kind: "busy" };
    };

    // Somebody has saved since; or it was us, and the answer was lost; or only its schedule is another.
    const compare = async (edits, asked, tries, error) => {
      const { kind, data } = await ask("GET", `${API}/${id}`);
      if (kind === "gone") return stop("deleted");
      if (kind !== "ok") return { kind };
      if (!data.permitted.includes("update")) return stop("sent", data);
      // Nobody has saved: it is what the edits say that cannot be, such as a sighting that was withdrawn.
      if (data.version === version) return { kind: "refused", error };
      const same = (fields) => Object.entries(fields).every(([name, value]) => normal(name, value) === normal(name, data[name]));
      const ours = [edits, ...doubtful, {}].find((one) => same({ ...saved, ...one }));
      if (!ours) return stop("conflict", data);
      version = data.version;
      Object.assign(saved, ours);
      if (ours === edits) return { kind: "ok", data, sent: edits };
      if (!data.scheduled_at || asked) return update(edits, false, asked, tries + 1);
      byHand = true;
      show("byhand", {});
      return { kind: "stopped" };
    };
    const stop = (why, data) => {
      stopped = true;
      keep();
      show(why, {});
      view.explain(why, { id, data, useTheirs, saveMine: () => saveMine(data) });
      return { kind: "stopped" };
    };
    // Their text comes with the page; ours is offered there, as what is kept in this browser always is.
    const useTheirs = () => { keep(); location.assign(location.pathname); };
    const saveMine = async (theirs) => {
      stopped = false;
      version = theirs.version;
      for (const name of Object.keys(saved)) saved[name] = theirs[name];
      if (theirs.scheduled_at) byHand = true;
      return save({ asked: true });
    };

    // A draft is created once. If the answer was lost, look whether it is there before asking again.
    const create = async (fields) => {
      // Never to everybody, while the segment it is for has not arrived.
      if (!fields.aim) return { kind: "refused", error: "the segment could not be loaded: choose it again" };
      const found = creating ? await findCreated() : null;
      if (found && found.kind !== "none") return found.kind === "ok" ? adopt(found.data) : found;
      creating = { at: Date.now(), subject: fields.subject, body: fields.body.slice(0, 1000) };
      keep(fields);
      const answer = await ask("POST", API, JSON.stringify(fields));
      if (answer.kind !== "away" && answer.kind !== "busy") creating = null;
      return answer.kind === "ok" ? adopt(answer.data, fields) : answer;
    };
    const findCreated = async () => {
      const list = await ask("GET", `${API}?state=draft&per_page=10`);
      if (list.kind !== "ok") return list;
      const since = creating.at - 15000 + (list.date ? Math.min(0, new Date(list.date) - Date.now()) : 0);
      for (const one of list.data.items.filter((one) => new Date(one.created_at) >= since && normal("subject", one.subject) === normal("subject", creating.subject))) {
        const whole = await ask("GET", `${API}/${one.id}`);
        if (whole.kind !== "ok") return whole;
        if (whole.data.version === 1 && whole.data.body.slice(0, 1000) === creating.body) return whole;
      }
      return { kind: "none" };
    };
    const adopt = (data, sent) => {
      id = data.id;
      creating = null;
      kept.of(id);
      saved = sent ?? Object.fromEntries([...FIELDS, "aim"].filter((name) => name in data).map((name) => [name, data[name]]));
      view.created(id);
      return { kind: "ok", data, sent: {} };
    };

    const touch = () => { if (!stopped) view.typing(); keepSoon(); saveSoon(); };
    const bringBack = (record) => {
      for (const [name, value] of Object.entries(record.fields)) if (name !== "aim" && form.elements[name]) form.elements[name].value = value ?? "";
      const { aim } = record.fields;
      if (aim) {
        gna.writeAim(form, aim);
        form.elements.audience.value = normal("aim", aim) === normal("aim", {}) ? "everybody" : "some";
      }
      if (!id) creating = record.creating || null;
      forget(record.key);
      touch();
    };
    const offer = async () => {
      for (const record of await kept.others(id || "new")) {
        const now = read(true);
        if (Object.entries(record.fields).every(([name, value]) => normal(name, value) === normal(name, now[name]))) forget(record.key);
        else return view.offer(record, { newer: record.base !== version && Boolean(id), bringBack: () => bringBack(record), discard: () => { forget(record.key); offer(); } });
      }
    };

    form.addEventListener("input", (event) => { if (event.target.name && !["look", "reader", "nickname"].includes(event.target.name)) touch(); });
    addEventListener("online", () => { if (["away", "busy"].includes(state)) save(); });
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "hidden") { if (isChanged() && !running) save({ leaving: Boolean(id) }); }
      else if (["away", "busy", "ended"].includes(state)) save();
    });
    addEventListener("pagehide", () => { if (isChanged()) { keep(); if (!running) save({ leaving: true }); } });
    addEventListener("beforeunload", (event) => { if (isChanged() && !keep()) event.preventDefault(); });
    if (byHand) show("byhand", { quiet: true });
    return {
      save, touch, offer, isChanged, isByHand: () => byHand, id: () => id, isStopped: () => stopped,
      // A field that was too long for the page has arrived.
      loaded: (name) => { if (id) saved[name] = form.elements[name].value; if (/_/.test(name)) saved.aim = gna.readAim(form); },
    };
  }
