  // The buttons above a text, as an ARIA toolbar: one stop of the Tab key, arrows within it, Alt+F10 from the text.
  const isMac = /Mac|iPhone|iPad/.test(navigator.platform);
  const ICONS = {
    bold: "M7 5h6a3.500 3.500 0 0 1 0 7H7zM7 12h7a3.500 3.500 0 0 1 0 7H7z",
    italic: "M10 5h8M6 19h8M14 5l-4 14",
    link: "M10 14a4 4 0 0 0 6 .5l3-3a4.200 4.200 0 0 0-6-6l-1.500 1.500M14 10a4 4 0 0 0-6-.5l-3 3a4.200 4.200 0 0 0 6 6l1.500-1.500",
    heading: "M6 5v14M18 5v14M6 12h12",
    list: "M9 6h11M9 12h11M9 18h11M4.500 6h.01M4.500 12h.01M4.500 18h.01",
    numbers: "M10 6h10M10 12h10M10 18h10M4 5l1.500-1v5M4 14.500c0-2 3-2 3 0 0 1.200-3 2-3 3.500h3",
    quote: "M5 17V11c0-3 1.500-4.500 4-5M5 11h4.500v6H5M14 17V11c0-3 1.500-4.500 4-5M14 11h4.500v6H14",
    picture: "M4 5h16v14H4zM4 16l4.500-5 4 4.500 2.500-2.500 5 5M15.500 9.500h.01",
    name: "M12 12a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7M5 20c.7-3.600 3.300-5.500 7-5.500s6.300 1.900 7 5.500",
    divider: "M4 12h16M8 6h8M8 18h8",
    writing: "M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5",
  };
  // Keys are named by the place of the key, so that they are the same on every keyboard.
  const BUTTONS = [
    ["bold", "Bold", "KeyB"], ["italic", "Italic", "KeyI"], ["link", "Link", "KeyK"],
    ["heading", "Heading", "Shift+Digit2"], ["list", "List", "Shift+Digit8"], ["numbers", "Numbered list", "Shift+Digit7"],
    ["quote", "Quote", "Shift+Digit9"], ["picture", "Picture", ""], ["name", "Personalise", ""], ["divider", "Divider", ""],
  ];
  const braces = (name) => `{${`{${name}`}}}`;
  const PLACEHOLDERS = [["Greeting", braces("greeting")], ["Name, or “friend”", braces("nickname|friend")]];

  function icon(name) {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg"), path = document.createElementNS(svg.namespaceURI, "path");
    svg.setAttribute("class", "icon");
    svg.setAttribute("viewBox", "0 0 24 24");
    svg.setAttribute("aria-hidden", "true");
    path.setAttribute("d", ICONS[name]);
    svg.append(path);
    return svg;
  }

  function formatOf(area) {
    return area.form?.elements.format?.value === "html" ? "html" : "markdown";
  }

  function toolButton(name, label, keys) {
    const button = make("button", { type: "button", className: "tool", tabIndex: -1 }, icon(name));
    const shown = keys.replace(/Key|Digit/, ""), spoken = isMac ? "Meta" : "Control", sign = isMac ? "⌘" : "Ctrl+";
    button.setAttribute("aria-label", label);
    button.dataset.tip = keys ? `${label} (${sign}${isMac ? shown.replace("Shift+", "⇧") : shown})` : label;
    if (keys) button.setAttribute("aria-keyshortcuts", `${spoken}+${shown}`);
    return button;
  }

  function addToolbar(area, choosePictures) {
    const bar = make("div", { className: "tools" }), box = make("div", { className: "editor" });
    const focused = document.activeElement === area;
    bar.setAttribute("role", "toolbar");
    bar.setAttribute("aria-label", "Formatting");
    if (area.id) bar.setAttribute("aria-controls", area.id);
    area.replaceWith(box);
    box.append(bar, area);
    if (focused) area.focus();
    const act = (name) => {
      area.focus();
      apply(area, ACTIONS[formatOf(area)][name](area.value, area.selectionStart, area.selectionEnd));
    };
    const keys = new Map();
    for (const [name, label, key] of BUTTONS) {
      const button = toolButton(name, label, key);
      bar.append(button);
      if (name === "name") addMenu(area, button);
      else button.addEventListener("click", () => (name === "picture" ? choosePictures() : act(name)));
      if (key) keys.set(key, name);
    }
    rove(bar);
    area.addEventListener("compositionstart", () => { area.dataset.composing = "yes"; });
    area.addEventListener("compositionend", () => { delete area.dataset.composing; });
    area.addEventListener("keydown", (event) => {
      if (event.isComposing) return;
      if (event.altKey && event.key === "F10") { event.preventDefault(); find("[tabindex='0']", bar).focus(); return; }
      if ((event.ctrlKey || event.metaKey) && !event.altKey) {
        const name = keys.get(`${event.shiftKey ? "Shift+" : ""}${keyOf(event)}`);
        if (name) { event.preventDefault(); act(name); }
        return;
      }
      if (event.key !== "Enter" || event.shiftKey || event.altKey || formatOf(area) === "html" || area.selectionStart !== area.selectionEnd) return;
      const edit = continueLine(area.value, area.selectionStart);
      if (!edit) return;
      event.preventDefault();
      apply(area, edit);
    });
    return { bar, box };
  }

  // A letter where it is printed, a digit where it is on the keyboard: with Shift, it is another sign on each layout.
  const keyOf = (event) => (/^[a-z]$/i.test(event.key) ? `Key${event.key.toUpperCase()}` : event.code);

  function rove(bar) {
    const tools = () => findAll(".tool", bar).filter((tool) => tool.checkVisibility());
    const choose = (tool) => { for (const one of findAll(".tool", bar)) one.tabIndex = one === tool ? 0 : -1; };
    choose(find(".tool", bar));
    bar.addEventListener("focusin", (event) => { if (event.target.matches(".tool")) choose(event.target); });
    bar.addEventListener("keydown", (event) => {
      const all = tools(), at = all.indexOf(event.target);
      const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: all.length - 1 }[event.key];
      if (at < 0 || next === undefined) return;
      event.preventDefault();
      all.at(next % all.length).focus();
    });
  }

  function addMenu(area, button) {
    const menu = make("div", { className: "menu", hidden: true, id: `${area.id}-placeholders` });
    menu.setAttribute("role", "menu");
    menu.setAttribute("aria-label", "Personalise");
    button.setAttribute("aria-haspopup", "menu");
    button.setAttribute("aria-controls", menu.id);
    const show = (shown) => {
      menu.hidden = !shown;
      button.setAttribute("aria-expanded", String(shown));
      if (shown) menu.style.setProperty("left", `${Math.max(0, Math.min(button.offsetLeft, button.parentElement.clientWidth - menu.offsetWidth))}px`);
      if (shown) menu.firstElementChild.focus();
    };
    for (const [label, words] of PLACEHOLDERS) {
      const entry = make("button", { type: "button", tabIndex: -1 }, make("span", { textContent: label }), make("code", { textContent: words }));
      entry.setAttribute("role", "menuitem");
      entry.addEventListener("click", () => {
        show(false);
        area.focus();
        apply(area, insertWords(words)(area.value, area.selectionStart, area.selectionEnd));
      });
      menu.append(entry);
    }
    menu.addEventListener("keydown", (event) => {
      const entries = [...menu.children], at = entries.indexOf(document.activeElement);
      const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
      if (next !== undefined) { event.preventDefault(); entries.at(next % entries.length).focus(); }
      if (event.key === "Escape") { event.preventDefault(); show(false); button.focus(); }
      if (event.key === "Tab") show(false);
    });
    menu.addEventListener("focusout", (event) => { if (!menu.contains(event.relatedTarget) && event.relatedTarget !== button) show(false); });
    button.addEventListener("click", () => show(menu.hidden));
    show(false);
    button.after(menu);
  }
