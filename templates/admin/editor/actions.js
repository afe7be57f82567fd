  // What the buttons and keys do: functions of the text and its selection that return an edit. Each undoes itself when
  // it is done again.
  const WORD = /[\p{L}\p{N}_'’-]/u;
  const PREFIX = /^(?:\s*(?:>|[-*+]\s|\d{1,9}[.)]\s|#{1,6}\s))*\s*/;
  const ITEM = /^(\s*(?:>\s?)*)(?:[-*+]|(\d{1,9})([.)]))(\s+)/;
  const QUOTED = /^(\s*(?:>\s?)+)/;
  const LINK = "https://";

  // Without what surrounds it: nobody means the space that a double click selects, too.
  function trimmed(text, from, to) {
    while (from < to && /\s/.test(text[from])) from++;
    while (to > from && /\s/.test(text[to - 1])) to--;
    return [from, to];
  }

  function wordAt(text, at) {
    let from = at, to = at;
    while (from > 0 && WORD.test(text[from - 1])) from--;
    while (to < text.length && WORD.test(text[to])) to++;
    return [from, to];
  }

  function linesAt(text, from, to) {
    const end = text.indexOf("\n", to > from && text[to - 1] === "\n" ? to - 1 : to);
    return [text.lastIndexOf("\n", from - 1) + 1, end < 0 ? text.length : end];
  }

  // Whether an asterisk means something depends on how many there are: one italic, two bold, three both.
  const stars = (text, at, step) => { let count = 0; while (text[at + step * count] === "*") count++; return count; };
  const marked = (count, size) => (size === 2 ? count >= 2 : count % 2 === 1);

  function surround(open, close) {
    const size = open.length, isMark = open[0] === "*";
    const outside = (text, from, to) => (isMark
      ? marked(Math.min(stars(text, from - 1, -1), stars(text, to, 1)), size)
      : text.slice(from - size, from) === open && text.startsWith(close, to));
    const inside = (text) => (isMark
      ? text.length > 2 * size && marked(Math.min(stars(text, 0, 1), stars(text, text.length - 1, -1)), size)
      : text.startsWith(open) && text.endsWith(close));
    const toggleLines = (text, from, to) => {
      const lines = text.slice(from, to).split("\n").map((line) => { const lead = PREFIX.exec(line)[0]; return [lead, line.slice(lead.length)]; });
      const on = lines.every(([, words]) => !words || inside(words));
      const changed = lines.map(([lead, words]) => lead + (!words || inside(words) !== on ? words : on ? words.slice(size, -close.length) : open + words + close));
      const made = changed.join("\n");
      return { from, to, text: made, select: [from, from + made.length] };
    };
    return (text, start, end) => {
      let [from, to] = trimmed(text, start, end);
      if (from === to) [from, to] = wordAt(text, start);
      const chosen = text.slice(from, to), kept = (shift) => (start === end ? [start + shift, start + shift] : [from + shift, to + shift]);
      if (outside(text, from, to)) return { from: from - size, to: to + close.length, text: chosen, select: kept(-size) };
      if (chosen.includes("\n")) return toggleLines(text, from, to);
      if (inside(chosen)) return { from, to, text: chosen.slice(size, -close.length), select: [from, to - size - close.length] };
      return { from, to, text: open + chosen + close, select: kept(size) };
    };
  }

  function toggleLink(pattern, made) {
    return (text, start, end) => {
      const [first, last] = linesAt(text, start, end);
      for (const found of text.slice(first, last).matchAll(pattern)) {
        const from = first + found.index, to = from + found[0].length;
        if (from <= start && end <= to) return { from, to, text: found[1], select: [from, from + found[1].length] };
      }
      let [from, to] = trimmed(text, start, end);
      if (from === to) [from, to] = wordAt(text, start);
      const chosen = text.slice(from, to), isAddress = /^(?:https?:\/\/|mailto:)\S+$/.test(chosen);
      const link = isAddress ? made("", chosen) : made(chosen, LINK);
      const at = from + (isAddress || !chosen ? link.text : link.address);
      return { from, to, text: link.whole, select: [at, at + (isAddress || !chosen ? 0 : LINK.length)] };
    };
  }
  const markdownLink = (words, address) => ({ whole: `[${words}](${address})`, text: 1, address: words.length + 3 });
  const htmlLink = (words, address) => ({ whole: `<a href="${address}">${words}</a>`, text: address.length + 11, address: 9 });

  // Every line of the selection gets a beginning, or loses it if all have it. A heading becomes an item, not both.
  function toggleLines(own, begin, instead = null) {
    return (text, start, end) => {
      const [from, to] = linesAt(text, start, end), lines = text.slice(from, to).split("\n");
      const filled = lines.filter((line) => line.trim()), on = filled.length > 0 && filled.every((line) => own.test(line));
      let number = 0;
      const made = lines.map((line) => {
        if (!line.trim() && lines.length > 1) return line;
        if (on) return line.replace(own, "$1");
        const bare = instead ? line.replace(instead, "$1") : line, space = /^\s*/.exec(bare)[0];
        return space + begin(++number) + bare.slice(space.length);
      }).join("\n");
      const caret = Math.max(from, start + made.length - (to - from));
      return { from, to, text: made, select: start === end ? [caret, caret] : [from, from + made.length] };
    };
  }
  const LEAD = /^(\s*)(?:[-*+]\s+|\d{1,9}[.)]\s+|#{1,6}\s+)/;

  // In HTML the chosen lines stand within one element, each as an item if it is a list.
  function toggleElement(tag, item = "") {
    const open = `<${tag}>`, close = `</${tag}>`, dress = (line) => (item ? `<${item}>${line}</${item}>` : line);
    return (text, start, end) => {
      const opened = text.lastIndexOf(open, start), closed = text.indexOf(close, Math.max(opened, end - close.length));
      if (opened >= 0 && closed >= 0 && !text.slice(opened, start).includes(close)) {
        const words = text.slice(opened + open.length, closed).trim(), made = item ? words.replace(new RegExp(`</?${item}>`, "g"), "") : words;
        return { from: opened, to: closed + close.length, text: made, select: [opened, opened + made.length] };
      }
      const [from, to] = linesAt(text, start, end), lines = text.slice(from, to).split("\n").filter((line) => line.trim());
      const words = (lines.length ? lines : [""]).map(dress).join("\n");
      const caret = from + open.length + 1 + words.length - (item ? item.length + 3 : 0);
      return { from, to, text: `${open}\n${words}\n${close}`, select: [caret, caret] };
    };
  }

  const wholeLines = (action) => (text, start, end) => action(text, ...trimmed(text, ...linesAt(text, start, end)));

  function toggleDivider(line, own) {
    const breaks = (space) => space.split("\n").length - 1;
    return (text, start, end) => {
      const [from, to] = linesAt(text, start, end), here = text.slice(from, to);
      if (own.test(here)) return { from, to: Math.min(text.length, to + 1), text: "", select: [from, from] };
      const at = here.trim() ? to : from, before = text.slice(0, at), words = before.trimEnd();
      const above = words ? "\n".repeat(Math.max(0, 2 - breaks(before.slice(words.length)))) : "";
      const below = "\n".repeat(Math.max(0, 2 - breaks(/^\s*/.exec(text.slice(to))[0])));
      const caret = at + above.length + line.length + 2;
      return { from: at, to, text: above + line + below, select: [caret, caret] };
    };
  }

  const insertWords = (words) => (text, from, to) => ({ from, to, text: words, select: [from + words.length, from + words.length] });

  const ACTIONS = {
    markdown: {
      bold: surround("**", "**"),
      italic: surround("*", "*"),
      link: toggleLink(/(?<!!)\[([^\]\n]*)\]\([^)\n]*\)/g, markdownLink),
      heading: toggleLines(/^(\s*)#{1,6}\s+/, () => "## ", LEAD),
      list: toggleLines(/^(\s*)[-*+]\s+/, () => "- ", LEAD),
      numbers: toggleLines(/^(\s*)\d{1,9}[.)]\s+/, (number) => `${number}. `, LEAD),
      quote: toggleLines(/^(\s*)>\s?/, () => "> "),
      divider: toggleDivider("---", /^\s*(?:-{3,}|\*{3,}|_{3,})\s*$/),
    },
    html: {
      bold: surround("<strong>", "</strong>"),
      italic: surround("<em>", "</em>"),
      link: toggleLink(/<a\s[^>]*>(.*?)<\/a>/g, htmlLink),
      heading: wholeLines(surround("<h2>", "</h2>")),
      list: toggleElement("ul", "li"),
      numbers: toggleElement("ol", "li"),
      quote: toggleElement("blockquote"),
      divider: toggleDivider("<hr>", /^\s*<hr\s*\/?>\s*$/),
    },
  };

  // Enter goes on with a list or a quotation, and on an empty item ends it: with an empty line, because Markdown would take
  // the words after it for a part of the item before. Null: the browser's own line break.
  function continueLine(text, at) {
    const [from, to] = linesAt(text, at, at), line = text.slice(from, to), found = ITEM.exec(line) || QUOTED.exec(line);
    if (!found || at < from + found[0].length || /^\s*(?:-{3,}|(?:[-*_]\s*){3,})$/.test(line)) return null;
    if (!line.slice(found[0].length).trim()) {
      const kept = found[4] === undefined ? "" : found[1];
      const left = kept.trim() ? kept : /[^\n]\n$/.test(text.slice(0, from)) ? "\n" : "";
      return { from, to, text: left, select: [from + left.length, from + left.length] };
    }
    const lead = found[2] ? found[0].replace(/\d+(?=[.)]\s+$)/, Number(found[2]) + 1) : found[0];
    return insertWords(`\n${lead}`)(text, at, at);
  }
