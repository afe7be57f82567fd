  // Pictures that are dropped, pasted or chosen. Each has a marker in the text while it is uploaded, which is found again
  // wherever the text has moved, and a row below the text that asks what the picture shows.
  const PICTURES = { side: 2400, bytes: 3500000, types: ["image/jpeg", "image/png", "image/webp", "image/gif"], untouched: ["image/gif"] };
  const LARGEST_PICTURE = 4194304, MOST_PICTURES = 20, AT_ONCE = 2, LONGEST_ALT = 300;
  const MARKER = /!\[Uploading [^\]\n]*\]\(#upload-[a-z0-9]+\)/g;
  const withoutMarkers = (text) => (text.includes("](#upload-") ? text.replace(MARKER, "") : text);

  const written = {
    markdown: (alt, url) => `![${alt.replace(/[\\[\]]/g, "\\$&")}](${url})`,
    html: (alt, url) => `<img src="${url}" alt="${alt.replace(/&/g, "&amp;").replace(/"/g, "&quot;").replace(/</g, "&lt;")}">`,
  };

  function addPictures(area, box) {
    const list = make("ul", { className: "uploads" }), said = make("p", { className: "hidden" });
    said.setAttribute("role", "status");
    list.setAttribute("aria-label", "Pictures");
    box.append(list, said);
    const pending = new Set(), waiting = [];
    const say = (text) => { said.textContent = text; };

    let visited = document.activeElement === area;
    area.addEventListener("focus", () => { visited = true; });
    // At the cursor; at the end of a text in which there was none yet.
    const place = (upload) => {
      const value = area.value, at = visited ? area.selectionEnd : value.length;
      const before = at && value[at - 1] !== "\n" ? "\n\n" : "", after = at < value.length && value[at] !== "\n" ? "\n\n" : "";
      writeQuietly(area, at, at, before + upload.marker + after);
      area.setSelectionRange(at + before.length + upload.marker.length, at + before.length + upload.marker.length);
    };
    // The text in place of the marker; false if somebody has deleted the marker.
    const replaceMarker = (upload, text) => {
      const at = area.value.indexOf(upload.marker);
      if (at < 0) return false;
      writeQuietly(area, at, at + upload.marker.length, text);
      return true;
    };

    const begin = async (upload) => {
      pending.add(upload);
      upload.marker = `![Uploading ${upload.name}…](#upload-${Math.random().toString(36).slice(2, 10)})`;
      place(upload);
      show(upload, "Waiting…");
      waiting.push(upload);
      next();
    };
    const next = () => {
      const busy = [...pending].filter((upload) => upload.running).length;
      if (busy >= AT_ONCE || !waiting.length) return;
      const upload = waiting.shift();
      if (!pending.has(upload)) return next();
      upload.running = true;
      deliver(upload).then((found) => finish(upload, found), (failure) => fail(upload, failure));
      next();
    };
    const end = (upload) => { upload.running = false; pending.delete(upload); next(); };

    const deliver = async (upload) => {
      show(upload, "Preparing…");
      const blob = await shrink(upload.file, PICTURES);
      if (blob.size > LARGEST_PICTURE) throw new Error("It is larger than 4 MB. Make it smaller and try again.");
      upload.stop.signal.throwIfAborted();
      const { status, data } = await send(upload, blob);
      if (status === 201 && data?.url) return data;
      if (status === 202 && data?.id) return prepared(upload, data.id);
      throw new Error(data?.error ? `${data.error}.` : await whyNot(status));
    };
    const whyNot = async (status) => {
      if (status === 413) return "It is larger than 4 MB. Make it smaller and try again.";
      const { kind } = status ? { kind: [401, 403, 200].includes(status) ? "ended" : "busy" } : await ask("GET", "/admin/api/media?limit=1");
      return { ended: "You are signed out. Sign in again in another tab, then try again.", away: "There is no connection." }[kind] || "The server could not take it.";
    };
    const send = (upload, blob) => new Promise((resolve, reject) => {
      const request = new XMLHttpRequest(), data = new FormData();
      data.append("file", blob, upload.name);
      request.upload.addEventListener("progress", ({ loaded, total }) => show(upload, loaded < total ? "Uploading…" : "Checking…", total ? loaded / total : 0));
      const end = () => { let data = null; try { data = JSON.parse(request.responseText); } catch { /* not an answer of ours */ } resolve({ status: request.status, data }); };
      for (const event of ["load", "error", "timeout"]) request.addEventListener(event, end);
      upload.stop.signal.addEventListener("abort", () => { request.abort(); reject(new DOMException("", "AbortError")); });
      request.timeout = 120000;
      request.open("POST", "/admin/api/media");
      request.send(data);
    });
    const prepared = async (upload, id) => {
      show(upload, "Preparing for email…", 1);
      for (let pause = 700, until = Date.now() + 120000; Date.now() < until; pause = Math.min(4000, pause * 1.4)) {
        await wait(pause);
        upload.stop.signal.throwIfAborted();
        const { kind, data } = await ask("GET", `/admin/api/media/${encodeURIComponent(id)}`);
        if (kind === "gone" || kind === "ended") throw new Error(await whyNot(kind === "ended" ? 401 : 500));
        if (data?.state === "refused") throw new Error(data.error ? `${data.error}.` : "The server could not read it.");
        if (data?.url) return data;
      }
      throw new Error("The server is still preparing it. Try again in a moment.");
    };

    const finish = (upload, found) => afterComposing(area, () => {
      end(upload);
      upload.url = found.url;
      upload.alt = alt(upload);
      if (!replaceMarker(upload, written[formatOf(area)](upload.alt, found.url))) return lost(upload);
      say(`${upload.name} is in the text.`);
      if (upload.described) return remove(upload);
      const seen = make("img", { src: new URL(found.url, location.href).pathname, alt: "" });
      find("progress", upload.row).replaceWith(seen);
      show(upload, "In the text.");
      upload.row.classList.add("placed");
      find("[data-do=cancel]", upload.row).remove();
    });
    const lost = (upload) => {
      show(upload, "Uploaded, but its place in the text is gone.");
      offer(upload, "Insert at the cursor", () => {
        const words = written[formatOf(area)](alt(upload), upload.url);
        area.focus();
        apply(area, insertWords(words)(area.value, area.selectionStart, area.selectionEnd));
        remove(upload);
      });
    };
    const fail = (upload, failure) => afterComposing(area, () => {
      end(upload);
      replaceMarker(upload, "");
      if (failure.name === "AbortError") { say(`${upload.name} was cancelled.`); return remove(upload); }
      show(upload, failure.message);
      upload.row.classList.add("bad");
      say(`${upload.name} was not uploaded. ${failure.message}`);
      offer(upload, "Try again", () => { upload.row.remove(); add(upload.file, alt(upload)); });
    });
    const offer = (upload, label, call) => {
      const button = make("button", { type: "button", className: "quiet small", textContent: label });
      button.addEventListener("click", call);
      find("progress", upload.row)?.remove();
      const cancel = find("[data-do=cancel]", upload.row);
      cancel.textContent = "Remove";
      cancel.before(button);
    };
    const remove = (upload) => {
      const focused = upload.row.contains(document.activeElement);
      upload.row.remove();
      if (focused) (find("input", list) || area).focus();
    };
    const cancel = (upload) => { if (pending.has(upload)) { upload.stop.abort(); if (!upload.running) fail(upload, new DOMException("", "AbortError")); } else remove(upload); };

    const alt = (upload) => find("input", upload.row).value.trim();
    // What was typed after the picture stood in the text, or nothing: then it is decoration.
    const describe = (upload) => {
      if (!upload.url) { upload.described = true; return find("input", upload.row).blur(), area.focus(); }
      const before = written[formatOf(area)](upload.alt, upload.url), at = area.value.indexOf(before);
      if (at >= 0) writeQuietly(area, at, at + before.length, written[formatOf(area)](alt(upload), upload.url));
      remove(upload);
    };

    const rowOf = (upload) => {
      const field = make("input", { type: "text", maxLength: LONGEST_ALT, placeholder: "What does it show?", value: upload.given });
      field.setAttribute("aria-label", `What does ${upload.name} show? Leave empty if it is decoration.`);
      const done = make("button", { type: "button", className: "quiet small", textContent: "Done" });
      const stop = make("button", { type: "button", className: "quiet small", textContent: "Cancel" });
      stop.dataset.do = "cancel";
      const name = make("span", { className: "what" }, make("strong", { textContent: upload.name }), " ", make("span", { className: "state" }));
      const row = make("li", {}, make("progress", { max: 1 }), name, field, make("span", { className: "actions" }, done, stop));
      done.addEventListener("click", () => describe(upload));
      stop.addEventListener("click", () => cancel(upload));
      field.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== "Escape") return;
        event.preventDefault();
        event.stopPropagation();
        if (event.key === "Escape") field.value = "";
        describe(upload);
      });
      // It belongs to the text, not to the form.
      for (const name of ["input", "change"]) row.addEventListener(name, (event) => event.stopPropagation());
      return row;
    };
    const show = (upload, text, part = 0) => {
      find(".state", upload.row).textContent = text;
      const bar = find("progress", upload.row);
      if (bar && part) bar.value = part; else bar?.removeAttribute("value");
    };

    const add = (file, given = "") => {
      const upload = { file, given, name: file.name.replace(/[[\]()\n]/g, " ").slice(-60) || "picture", stop: new AbortController() };
      upload.row = rowOf(upload);
      list.append(upload.row);
      begin(upload);
      return upload;
    };
    const addAll = (files, focus) => {
      const pictures = [...files].filter((file) => file.type.startsWith("image/"));
      if (pictures.length < files.length) say("Only pictures can be put into the text.");
      if (pictures.length > MOST_PICTURES) say(`${MOST_PICTURES} pictures at a time: the rest was left out.`);
      const added = pictures.slice(0, MOST_PICTURES).map((file) => add(file));
      if (added.length) say(`Uploading ${added.length === 1 ? added[0].name : `${added.length} pictures`}. Below the text you can say what ${added.length === 1 ? "it shows" : "they show"}.`);
      if (added.length && focus) find("input", added[0].row).focus();
    };

    takeFiles(area, box, addAll);
    area.form?.addEventListener("formdata", ({ formData }) => { if (formData.has(area.name)) formData.set(area.name, withoutMarkers(area.value)); });
    area.form?.addEventListener("submit", (event) => {
      if (!pending.size || event.submitter?.formTarget) return;
      event.preventDefault();
      say("A picture is still being uploaded: wait for it, or cancel it.");
      list.scrollIntoView({ block: "nearest" });
    }, { capture: true });
    addEventListener("beforeunload", (event) => { if (pending.size) event.preventDefault(); });
    return { choose: () => pickFiles(area, addAll), isBusy: () => pending.size > 0 };
  }

  function pickFiles(area, addAll) {
    const input = make("input", { type: "file", multiple: true, accept: PICTURES.types.join(",") });
    input.addEventListener("change", () => addAll(input.files, true));
    input.addEventListener("cancel", () => area.focus());
    input.click();
  }

  function takeFiles(area, box, addAll) {
    const hasFiles = (event) => event.dataTransfer?.types.includes("Files");
    const leave = () => box.classList.remove("over");
    // Pages and word processors offer a picture of the text they copy: what they mean is the text.
    area.addEventListener("paste", (event) => {
      const data = event.clipboardData, files = [...(data?.files ?? [])].filter((file) => file.type.startsWith("image/"));
      const text = data?.getData("text/plain") ?? "";
      if (files.length && !text.trim()) { event.preventDefault(); return addAll(files, false); }
      const [from, to] = [area.selectionStart, area.selectionEnd], chosen = area.value.slice(from, to);
      if (formatOf(area) === "html" || !/^https?:\/\/\S+$/.test(text.trim()) || !chosen.trim() || /[\n\]]|^https?:/.test(chosen)) return;
      event.preventDefault();
      apply(area, insertWords(`[${chosen}](${text.trim()})`)(area.value, from, to));
    });
    box.addEventListener("dragover", (event) => { if (hasFiles(event)) { event.preventDefault(); event.dataTransfer.dropEffect = "copy"; box.classList.add("over"); } });
    box.addEventListener("dragleave", (event) => { if (!box.contains(event.relatedTarget)) leave(); });
    box.addEventListener("drop", (event) => { leave(); if (hasFiles(event) && event.dataTransfer.files.length) { event.preventDefault(); addAll(event.dataTransfer.files, true); } });
  }

  // A file that is dropped beside the text would replace the page, and what is typed with it.
  function catchDrops() {
    const beside = (event) => event.dataTransfer?.types.includes("Files") && !event.defaultPrevented && !event.target.closest?.("input[type=file]");
    addEventListener("dragover", (event) => { if (beside(event)) { event.preventDefault(); event.dataTransfer.dropEffect = "none"; } });
    addEventListener("drop", (event) => { if (beside(event)) event.preventDefault(); });
  }
