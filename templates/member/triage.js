"use strict";
{% include "inbox/triage.js" %}
