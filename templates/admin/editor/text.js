  // Changes of a text that the browser can undo. An edit is { from, to, text, select }: what is replaced, by what, and
  // what is selected afterwards.
  const make = (tag, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };
  const wait = (time) => new Promise((resolve) => { setTimeout(resolve, time); });
  // Browsers need long to insert many lines so that they can be undone.
  const LONGEST_UNDO = 20000;

  function apply(area, edit) {
    if (!edit || area.readOnly || area.disabled) return;
    write(area, edit.from, edit.to, edit.text);
    if (edit.select) area.setSelectionRange(...edit.select);
  }

  // Replace a part of the text, wherever the focus is. Focus, caret and what is in view stay where they are.
  function writeQuietly(area, from, to, text) {
    const active = document.activeElement, top = area.scrollTop, seen = [scrollX, scrollY];
    write(area, from, to, text);
    if (active !== area) active?.focus?.({ preventScroll: true });
    area.scrollTop = top;
    scrollTo(...seen);
  }

  function write(area, from, to, text) {
    const value = area.value;
    while (from < to && text && value[from] === text[0]) { from++; text = text.slice(1); }
    while (from < to && text && value[to - 1] === text.at(-1)) { to--; text = text.slice(0, -1); }
    if (from === to && !text) return;
    const place = [area.selectionStart, area.selectionEnd];
    if (document.activeElement !== area) area.focus({ preventScroll: true });
    area.setSelectionRange(from, to);
    const undoable = text.length < LONGEST_UNDO && document.execCommand(text ? "insertText" : "delete", false, text);
    if (!undoable) {
      area.setRangeText(text, from, to, "end");
      area.dispatchEvent(new InputEvent("input", { bubbles: true }));
    }
    const moved = place.map((at) => (at <= from ? at : at >= to ? at + text.length - (to - from) : from + text.length));
    area.setSelectionRange(...moved);
  }

  // Nobody's input method is interrupted: wait until the word it composes is there.
  function afterComposing(area, call) {
    if (area.dataset.composing) area.addEventListener("compositionend", () => setTimeout(call), { once: true });
    else call();
  }
