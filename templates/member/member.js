"use strict";
// Progressive enhancement only: without this script every page still works, by its links and forms.
(() => {
  const find = (selector, within = document) => within.querySelector(selector);
  const findAll = (selector, within = document) => [...within.querySelectorAll(selector)];
  const make = (tag, properties = {}) => Object.assign(document.createElement(tag), properties);
  const LARGEST_FORM = 4194304;
  const LIMITS = { side: 2048, bytes: 1500000, types: ["image/jpeg", "image/png", "image/webp"] };
  const UNREACHABLE = {{ _("There is no connection to the server. Nothing is lost: please try again in a moment.")|tojson }};
  const put = (text, name, value) => text.replace(`{${name}}`, () => value);

  // After signing in again the form is shown in answer to the sign-in: put the address of its own page into the bar.
  const main = find("main"), shownAt = main.dataset.shownAt;
  if (shownAt) history.replaceState(history.state, "", shownAt);

  // A notice says what was just done: reloading the page, or a bookmark of it, must not say it again.
  const noticed = new URL(location.href);
  if (find("[data-notice]") && noticed.searchParams.has("notice")) {
    noticed.searchParams.delete("notice");
    history.replaceState(history.state, "", noticed);
  }

  // Times arrive in UTC. Show them in the browser's language and time zone, with UTC as the tooltip.
  const clock = new Intl.DateTimeFormat(document.documentElement.lang === "en" ? "en-GB" : document.documentElement.lang, { day: "numeric", month: "long", year: "numeric", hour: "2-digit", minute: "2-digit" });
  const localise = (within) => {
    for (const time of findAll("time[data-local]", within)) {
      time.title = time.textContent;
      time.textContent = clock.format(new Date(time.dateTime));
      time.removeAttribute("data-local");
    }
  };

  // A second click on a button must not send the form again. Whoever comes back to the page can send it again.
  for (const form of findAll("form[data-once]:not([data-sighting])")) {
    form.addEventListener("submit", (event) => { if (form.dataset.sent) event.preventDefault(); else lock(form); });
  }
  addEventListener("pageshow", (event) => { if (event.persisted) findAll("form[data-once]").forEach(unlock); });

  function lock(form) {
    form.dataset.sent = "yes";
    for (const button of findAll("button:not([type=button])", form)) button.setAttribute("aria-disabled", "true");
  }

  function unlock(form) {
    delete form.dataset.sent;
    for (const button of findAll("button", form)) button.removeAttribute("aria-disabled");
  }

  for (const input of findAll("input[type=password]")) {
    const box = make("div", { className: "secret" });
    const button = make("button", { type: "button", textContent: {{ _("Show")|tojson }} });
    const name = find(`label[for=${input.id}]`).textContent, label = document.documentElement.lang === "en" ? name.toLowerCase() : name;
    const show = (shown) => {
      input.type = shown ? "text" : "password";
      button.textContent = shown ? {{ _("Hide")|tojson }} : {{ _("Show")|tojson }};
      button.setAttribute("aria-label", put(shown ? {{ _("Hide %(label)s", label="{label}")|tojson }} : {{ _("Show %(label)s", label="{label}")|tojson }}, "label", label));
    };
    const focused = document.activeElement === input;
    input.replaceWith(box);
    box.append(input, button);
    if (focused) input.focus();
    show(false);
    button.addEventListener("click", () => show(input.type === "password"));
    input.form.addEventListener("submit", () => show(false));
  }

  // Another page, as a document; null if it cannot be had. `ended` tells that nobody is signed in any more.
  async function load(url, options) {
    const answer = await fetch(url, { ...options, headers: { Accept: "text/html", ...options?.headers } }).catch(() => null);
    if (!answer) return { page: null, ended: false };
    const ended = answer.status === 401 || (answer.redirected && new URL(answer.url).pathname === "/sign-in");
    if (!answer.ok || ended) return { page: null, ended };
    return { page: new DOMParser().parseFromString(await answer.text(), "text/html"), ended };
  }

  // A photo that is being prepared, or whose link has expired: its own page knows how it looks now.
  async function renew(photo) {
    const { page, ended } = await load(photo.dataset.of);
    const now = page && find("[data-photo]", page);
    if (ended || !photo.isConnected || !now) return !ended && photo.isConnected;
    if ("preparing" in now.dataset) return true;
    now.classList.add("new");
    if (photo.matches(".tile .photo") && now.alt) now.alt = "";
    photo.replaceWith(document.adoptNode(now));
    watch(now.parentElement);
    return false;
  }

  async function follow(photo) {
    for (let wait = 1500; wait < 60000; wait *= 1.3) {
      await new Promise((resolve) => { setTimeout(resolve, wait); });
      if (!await renew(photo)) return;
    }
  }

  function watch(within) {
    localise(within);
    for (const photo of findAll("[data-preparing]:not([data-followed])", within)) {
      photo.dataset.followed = "yes";
      follow(photo);
    }
    for (const photo of findAll("img[data-of]:not([data-watched])", within)) {
      photo.dataset.watched = "yes";
      const again = () => { if (!photo.classList.contains("new")) renew(photo); };
      if (photo.complete && !photo.naturalWidth) again();
      photo.addEventListener("error", again, { once: true });
    }
  }
  watch(document);

  const search = find("[data-search]");
  if (search || find("[data-more]")) enhanceList(search);
  const sighting = find("[data-sighting]");
  if (sighting) enhanceSighting(sighting);

  // Search and "Show more" without leaving the page. What is searched for is kept in the history, never in the URL,
  // so that it is there again after a look at one sighting. The next member in this tab has another mark.
  function enhanceList(form) {
    const results = find("[data-results]"), found = find("[data-found]");
    const ask = (body) => load("/sightings", { method: "POST", body: new URLSearchParams(body) });
    let latest = 0;
    const show = async (q) => {
      const request = ++latest;
      const { page, ended } = await ask({ q });
      if (request !== latest) return;
      if (!page) return ended ? form.submit() : say(UNREACHABLE);
      results.replaceChildren(...find("[data-results]", page).childNodes);
      history.replaceState(q ? { q, of: form.dataset.search } : null, "", "/sightings");
      watch(results);
      const count = findAll(".tile", results).length;
      say(q ? find(".found", results)?.textContent : put({{ _("%(num)s sightings", num="{num}")|tojson }}, "num", count));
    };
    const say = (text) => { found.textContent = text; };
    form?.addEventListener("submit", (event) => { event.preventDefault(); show(form.elements.q.value.trim()); });
    form?.addEventListener("search", () => { if (!form.elements.q.value) show(""); });
    results.addEventListener("click", (event) => {
      if (!event.target.closest("[data-all]") || !form) return;
      event.preventDefault();
      form.elements.q.value = "";
      show("").then(() => form.elements.q.focus());
    });
    const again = form && history.state?.of === form.dataset.search && history.state.q;
    if (again && !form.elements.q.value) { form.elements.q.value = again; show(again); }

    const more = async (control) => {
      const { page, ended } = control.href ? await load(control.href) : await ask(new FormData(control));
      if (!page) return ended || !found ? leave(control) : say(UNREACHABLE);
      const next = find("[data-results]", page), tiles = findAll(".tile", next);
      if (tiles.length && !find("[data-tiles]", results)) find(".more", results).before(make("ul", { className: "tiles" }));
      const list = find(".tiles", results);
      list?.append(...tiles);
      find("[data-newest]", next)?.remove();
      find(".more", results).replaceWith(find(".more", next));
      watch(results);
      say(tiles.length ? put({{ _("%(num)s more", num="{num}")|tojson }}, "num", tiles.length) : {{ _("Nothing more found")|tojson }});
      (find("a", tiles[0]) || find("[data-more] button, a[data-more]", results))?.focus();
    };
    const leave = (control) => { if (control.href) location.assign(control.href); else control.submit(); };
    results.addEventListener("click", (event) => {
      const link = event.target.closest("a[data-more]");
      if (link) { event.preventDefault(); more(link); }
    });
    results.addEventListener("submit", (event) => { event.preventDefault(); more(event.target); });
  }

  // A preview of the photo, a smaller copy if it is large, and its upload with progress straight to the bucket. The
  // form itself is sent as it always is, and names the upload.
  function enhanceSighting(form) {
    const input = form.elements.photo, field = find("[data-photo-field]", form), status = find("[data-status]", form);
    const upload = find("[data-upload]", form), bar = find("progress", upload), choose = find("[data-choose] span", form);
    const remove = form.elements.remove_photo;
    let prepared = null;
    field.classList.add("enhanced");
    const say = (text, bad = false) => {
      status.textContent = text;
      status.classList.toggle("bad", bad);
      if (bad) status.setAttribute("role", "alert"); else status.setAttribute("role", "status");
    };

    input.addEventListener("change", () => {
      const file = input.files[0];
      find(".preview", field)?.remove();
      find(".why", field)?.remove();
      find("[data-arrived]", field)?.remove();
      find("#photo-again", field)?.remove();
      if (form.elements.upload_id) form.elements.upload_id.remove();
      input.removeAttribute("aria-invalid");
      field.classList.remove("wrong");
      say("");
      prepared = file ? shrink(file, LIMITS) : null;
      choose.textContent = file ? {{ _("Choose another photo")|tojson }} : {{ _("Take or choose a photo")|tojson }};
      if (remove) Object.assign(remove, { checked: false, disabled: Boolean(file) });
      if (file) preview(file);
    });

    const preview = async (file) => {
      const image = make("img", { className: "preview", alt: {{ _("The photo you have chosen")|tojson }}, src: URL.createObjectURL(file) });
      const shown = await image.decode().then(() => true, () => false);
      if (shown && input.files[0] === file) find(".chooser", field).before(image);
      if (shown || input.files[0] !== file) return;
      const known = input.accept.split(",").includes(file.type);
      say(known ? put({{ _("%(file)s cannot be shown here, but may still be uploaded.", file="{file}")|tojson }}, "file", file.name) : {{ _("Only JPEG, PNG, WebP formats allowed")|tojson }}, !known);
    };

    form.addEventListener("submit", (event) => {
      if (form.dataset.sent) return event.preventDefault();
      lock(form);
      if (!input.files[0]) return;
      event.preventDefault();
      send().catch((failure) => {
        unlock(form);
        upload.hidden = true;
        say(failure.message, true);
        if (failure.cause !== 400) return;
        input.setAttribute("aria-invalid", "true");
        input.focus();
      });
    });

    const send = async () => {
      upload.hidden = false;
      bar.removeAttribute("value");
      say({{ _("Preparing the photo…")|tojson }});
      const blob = await prepared;
      const id = await deliver(blob);
      if (!id) return hand({ photo_chosen: "yes" });
      say({{ _("Saving…")|tojson }});
      hand({ upload_id: id });
    };

    // Send the form without the file, and with these fields.
    const hand = (fields) => {
      for (const [name, value] of Object.entries(fields)) form.append(make("input", { type: "hidden", name, value }));
      input.disabled = true;
      form.submit();
    };

    // The id of the upload; null if nobody is signed in any more.
    const deliver = async (blob) => {
      const body = JSON.stringify({ content_type: blob.type, size: blob.size });
      const answer = await fetch("/api/upload/photo", { method: "POST", headers: { "Content-Type": "application/json" }, body }).catch(() => null);
      if (answer?.status === 401) return null;
      const announced = await answer?.json().catch(() => null);
      if (!answer?.ok || !announced) throw new Error(announced?.error || UNREACHABLE, { cause: answer?.status });
      const data = new FormData();
      for (const [name, value] of Object.entries(announced.fields)) data.append(name, value);
      data.append("file", blob);
      const sent = await post(announced.url, data);
      if (sent.ok) return announced.upload_id;
      if (blob.size > LARGEST_FORM) throw new Error({{ _("The photo could not be uploaded. Nothing is lost: please try again in a moment.")|tojson }});
      return deliverByForm(blob);
    };

    // The bucket cannot be reached from here, or refuses: the server takes smaller files itself.
    const deliverByForm = async (blob) => {
      const data = new FormData();
      data.append("photo", blob, "photo");
      const { status: code, text } = await post("/api/upload/photo", data);
      if (code === 401) return null;
      const answer = (() => { try { return JSON.parse(text); } catch { return null; } })();
      if (!answer?.upload_id) throw new Error(answer?.error || UNREACHABLE, { cause: code });
      return answer.upload_id;
    };

    const post = (url, data) => new Promise((resolve) => {
      const request = new XMLHttpRequest();
      let told = 0;
      say({{ _("Uploading the photo…")|tojson }});
      request.upload.addEventListener("progress", ({ loaded, total, lengthComputable }) => {
        if (!lengthComputable) return;
        const percent = Math.round(100 * loaded / total);
        bar.value = percent;
        // Screen readers read every change of the status: four are enough.
        if (Math.floor(percent / 25) > told) { told = Math.floor(percent / 25); say(put({{ _("Uploading the photo: %(percent)s percent", percent="{percent}")|tojson }}, "percent", percent)); }
      });
      const end = () => resolve({ ok: request.status >= 200 && request.status < 300, status: request.status, text: request.responseText });
      for (const event of ["load", "error", "abort", "timeout"]) request.addEventListener(event, end);
      request.timeout = 180000;
      request.open("POST", url);
      request.send(data);
    });

    addEventListener("pageshow", (event) => {
      if (!event.persisted) return;
      Object.assign(input, { disabled: false });
      findAll("input[name=upload_id], input[name=photo_chosen]", form).forEach((one) => one.remove());
      upload.hidden = true;
      say("");
    });
    if (input.files[0]) input.dispatchEvent(new Event("change"));
  }

{% include "media/shrink.js" %}
})();
