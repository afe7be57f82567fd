"use strict";
{% include "inbox/triage.js" %}
{% include "inbox/arrange.js" %}
