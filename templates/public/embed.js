/* Gna subscribe form {{ version }}. <script src=".../embed.js" data-source="blog" async></script>
   Every text can be changed by an attribute: data-text-button, data-text-email, data-text-name, data-text-success,
   data-text-invalid, data-text-limit, data-text-failure. data-lang="de" is the form's language. data-name shows a field for the name;
   data-tags="a,b"; data-into="#place" puts it there. */
(function () {
  "use strict";
  var script = document.currentScript, data = script.dataset, base = script.src.replace(/\/embed\.js.*$/, "");
  var languages = {{ languages }};
  var asked = (data.lang || "").toLowerCase().split(/[-_]/)[0];
  var lang = languages.hasOwnProperty(asked) ? asked : "{{ text_lang }}", texts = languages[lang];
  function text(key) { return data["text" + key[0].toUpperCase() + key.slice(1)] || texts[key]; }
  function make(tag, attributes, parent) {
    var element = document.createElement(tag);
    Object.keys(attributes).forEach(function (key) {
      if (key === "text") element.textContent = attributes.text; else element.setAttribute(key, attributes[key]);
    });
    return parent.appendChild(element);
  }
  var number = (window.gnaForms = (window.gnaForms || 0) + 1);
  var form = document.createElement("form");
  form.className = "gna-form"; form.noValidate = true; form.lang = lang;
  form.action = base + "/api/subscribe"; form.method = "post";
  function field(name, type, label, autocomplete, most) {
    var id = "gna-" + name + "-" + number, line = make("p", {"class": "gna-field"}, form);
    make("label", {"for": id, text: label}, line); line.appendChild(document.createTextNode(" "));
    return make("input", {id: id, name: name, type: type, maxlength: most, autocomplete: autocomplete}, line);
  }
  var email = field("email", "email", text("email"), "email", 254);
  email.required = true;
  var nickname = "name" in data ? field("nickname", "text", text("name"), "nickname", 50) : null;
  var trap = field("website", "text", texts.trap, "off", 100);
  trap.tabIndex = -1; trap.parentNode.setAttribute("aria-hidden", "true");
  trap.parentNode.style.cssText = "position:absolute;left:-100vw;height:1px;overflow:hidden";
  var button = make("button", {type: "submit", text: text("button")}, form);
  var status = make("p", {role: "status", "aria-live": "polite", "class": "gna-status"}, form);
  function place() {
    var into = data.into && document.querySelector(data.into);
    if (into) into.appendChild(form);
    else if (document.head.contains(script)) document.body.appendChild(form);
    else script.parentNode.insertBefore(form, script.nextSibling);
  }
  var early = data.into || document.head.contains(script);
  if (early && document.readyState === "loading") document.addEventListener("DOMContentLoaded", place); else place();

  var shown = performance.now();
  function say(key, bad) {
    status.textContent = text(key); status.className = "gna-status gna-" + key; button.disabled = false;
    if (bad) { email.setAttribute("aria-invalid", "true"); email.focus(); } else email.removeAttribute("aria-invalid");
  }
  function send() {
    var body = {email: email.value, website: trap.value, elapsed: Math.round(performance.now() - shown)};
    if (lang === asked) body.lang = lang;
    if (nickname && nickname.value.trim()) body.nickname = nickname.value.trim();
    if (data.source) body.source = data.source;
    if (data.tags) body.tags = data.tags.split(",");
    fetch(form.action, {
      method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body), credentials: "omit"
    }).then(function (answer) {
      if (answer.status === 201) { say("success"); form.reset(); }
      else if (answer.status !== 400) say(answer.status === 429 ? "limit" : "failure");
      else return answer.json().then(function (found) {
        // A source or a tag that is not valid is a mistake of the page, which its reader cannot correct.
        if (/email/i.test(found.error)) say("invalid", true); else say("failure");
      });
    }).catch(function () { say("failure"); });
  }
  form.addEventListener("submit", function (event) {
    event.preventDefault();
    if (!email.value.trim() || !email.checkValidity()) { say("invalid", true); return; }
    button.disabled = true; status.textContent = "";
    setTimeout(send, Math.max(0, 1000 - (performance.now() - shown)));
  });
})();
