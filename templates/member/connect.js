"use strict";
{% include "following/connect.js" %}
