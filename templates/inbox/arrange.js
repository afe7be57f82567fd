// Ordering by dragging or by keys. Without this script every row has numbers for it.
(() => {
  const find = (selector, within = document) => within.querySelector(selector);
  const findAll = (selector, within = document) => [...within.querySelectorAll(selector)];
  const blocks = find("[data-blocks]");
  if (blocks) enhanceBlocks(blocks);

  // Blocks have buttons in the place of numbers.
  function enhanceBlocks(form) {
    const list = find(".blocks", form), number = () => [...list.children].forEach((block, at) => { find("[name^=place-]", block).value = at + 1; });
    for (const block of findAll("[data-block]", list)) {
      const order = find(".order", block), what = find("legend", block).textContent, remove = find("[name^=remove-]", block);
      find("label", order).hidden = true;
      const step = (text, label, act) => {
        const made = Object.assign(document.createElement("button"), { type: "button", className: "quiet small", textContent: text });
        made.setAttribute("aria-label", `${label}: ${what} ${find("input[type=text], textarea", block)?.value.slice(0, 40) || ""}`.trim());
        made.addEventListener("click", () => { act(); number(); made.focus(); });
        return made;
      };
      order.prepend(step("↑", "Move up", () => block.previousElementSibling?.before(block)), step("↓", "Move down", () => block.nextElementSibling?.after(block)));
      remove.addEventListener("change", () => block.classList.toggle("going", remove.checked));
    }
  }

  const form = find("[data-arrange]");
  if (!form) return;
  form.classList.add("enhanced");
  const lists = () => findAll(".pieces", form), pieces = () => findAll("[data-piece]", form);
  const said = find("[data-arranged]", form), place = `compose ${location.search}`;
  let dragged = null;

  const button = (text, label, act) => {
    const made = Object.assign(document.createElement("button"), { type: "button", className: "quiet small", textContent: text });
    made.setAttribute("aria-label", label);
    made.addEventListener("click", () => { act(); made.focus(); });
    return made;
  };

  // The numbers follow from where the rows are.
  function number() {
    lists().forEach((list, section) => {
      [...list.children].forEach((piece, at) => {
        find("[name=at]", piece).value = section + 1;
        find("[name=place]", piece).value = at + 1;
      });
      const wanted = find("[data-wanted]", list.parentElement);
      if (wanted) wanted.textContent = `${list.children.length} of ${wanted.dataset.wanted}`;
    });
  }

  function tell(piece) {
    const list = piece.parentElement, section = lists().indexOf(list);
    const heading = find("[name=heading]", list.parentElement).value || `section ${section + 1}`;
    said.textContent = `${find("h2", piece).textContent}: place ${[...list.children].indexOf(piece) + 1} in ${heading}`;
  }

  // Past the end of a section is the beginning of the next.
  function move(piece, by) {
    const list = piece.parentElement, all = lists(), next = all[all.indexOf(list) + by];
    if (by < 0 && piece.previousElementSibling) piece.previousElementSibling.before(piece);
    else if (by > 0 && piece.nextElementSibling) piece.nextElementSibling.after(piece);
    else if (next && by < 0) next.append(piece);
    else if (next) next.prepend(piece);
    changed(piece);
  }

  function changed(piece) {
    number();
    tell(piece);
    keep();
  }

  function keep() {
    const rows = pieces().map((piece) => ["entry", "note", "at", "place"].map((name) => find(`[name=${name}]`, piece)?.value));
    sessionStorage.setItem(place, JSON.stringify({ rows, headings: findAll("[name=heading]", form).map((field) => field.value) }));
  }

  // What was arranged and typed before the page was reloaded.
  function restore() {
    const kept = JSON.parse(sessionStorage.getItem(place) || "null");
    if (!kept) return;
    findAll("[name=heading]", form).forEach((field, at) => { field.value = kept.headings[at] ?? field.value; });
    for (const [entry, note, at] of kept.rows) {
      const piece = pieces().find((one) => find("[name=entry]", one).value === entry);
      if (!piece) continue;
      find("[name=note]", piece).value = note;
      lists()[at - 1]?.append(piece);
    }
  }

  for (const piece of pieces()) {
    const order = find(".order", piece);
    findAll("label", order).forEach((label) => { label.hidden = true; });
    const title = find("h2", piece).textContent;
    order.append(button("↑", `Move up: ${title}`, () => move(piece, -1)), button("↓", `Move down: ${title}`, () => move(piece, 1)));
    piece.draggable = true;
    piece.addEventListener("dragstart", (event) => {
      if (event.target !== piece) return;
      dragged = piece;
      piece.classList.add("dragged");
      event.dataTransfer.effectAllowed = "move";
      event.dataTransfer.setData("text/plain", title);
    });
    piece.addEventListener("dragend", () => { piece.classList.remove("dragged"); dragged = null; unmark(); });
    piece.addEventListener("keydown", (event) => {
      const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
      if (!by || !event.altKey) return;
      event.preventDefault();
      const focused = document.activeElement;
      move(piece, by);
      focused.focus();
    });
    // Text in a field is selected by dragging, too.
    for (const field of findAll("textarea", piece)) {
      field.addEventListener("focus", () => { piece.draggable = false; });
      field.addEventListener("blur", () => { piece.draggable = true; });
    }
  }
  // Nothing moves before it is dropped: what moves under the pointer is hard to hit.
  const unmark = () => findAll(".over, .below", form).forEach((one) => one.classList.remove("over", "below"));
  const nextBelow = (part, { clientY }) => findAll("[data-piece]", part).find((one) => one !== dragged && clientY < one.getBoundingClientRect().top + one.offsetHeight / 2);
  for (const part of findAll("[data-part]", form)) {
    part.addEventListener("dragover", (event) => {
      if (!dragged) return;
      event.preventDefault();
      unmark();
      part.classList.add("over");
      nextBelow(part, event)?.classList.add("below");
    });
    part.addEventListener("drop", (event) => {
      if (!dragged) return;
      event.preventDefault();
      find(".pieces", part).insertBefore(dragged, nextBelow(part, event) || null);
      changed(dragged);
    });
  }
  form.addEventListener("input", keep);
  form.addEventListener("submit", () => { number(); sessionStorage.removeItem(place); });
  restore();
  number();
})();
