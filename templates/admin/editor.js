"use strict";
// Writing: buttons and keys for Markdown and HTML, pictures, and saving by itself. Without this script the forms work as they are.
(() => {
  const { find, findAll, debounce } = window.gna;
{% include "media/shrink.js" %}
{% include "admin/editor/text.js" %}
{% include "admin/editor/actions.js" %}
{% include "admin/editor/toolbar.js" %}
{% include "admin/editor/pictures.js" %}
{% include "admin/editor/kept.js" %}
{% include "admin/editor/saving.js" %}
{% include "admin/editor/compose.js" %}

  catchDrops();
  for (const area of findAll("textarea[data-editor]")) {
    let pictures = null;
    const { box } = addToolbar(area, () => pictures.choose());
    pictures = addPictures(area, box);
    if (area.form?.matches("[data-compose]")) enhanceCompose(area.form, pictures);
  }
})();
