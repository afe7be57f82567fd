"use strict";
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

  // Times are written in UTC; here they become the reader's own, with UTC one hover away.
  const local = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" });
  for (const time of all("time[data-local]")) {
    time.title = time.textContent;
    time.textContent = local.format(new Date(time.dateTime));
  }

  // On a phone the rooms scroll sideways: show the one we are in.
  const here = document.querySelector(".side [aria-current]");
  if (here && matchMedia("(max-width: 60rem)").matches) here.scrollIntoView({ inline: "center", block: "nearest" });
})();
