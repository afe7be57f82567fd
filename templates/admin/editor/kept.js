  // Text that is not saved yet, kept in this browser: one record per campaign and open tab. A tab holds a lock while it
  // is open, so that no other one offers its text.
  const KEPT = "gna-draft:", LONGEST_KEPT = 1500000, KEPT_FOR = 30 * 86400000, MOST_KEPT = 12;

  function readKept(key) {
    try {
      const found = JSON.parse(localStorage.getItem(key));
      return found && typeof found.at === "number" && typeof found.fields === "object" && Date.now() - found.at < KEPT_FOR ? { key, ...found } : null;
    } catch {
      return null;
    }
  }

  function allKept() {
    try {
      return Object.keys(localStorage).filter((key) => key.startsWith(KEPT)).map((key) => readKept(key) || forget(key)).filter(Boolean).sort((a, b) => b.at - a.at);
    } catch {
      return [];
    }
  }

  function forget(key) {
    try { localStorage.removeItem(key); } catch { /* there is no storage, so nothing is kept in it */ }
    return null;
  }

  function keeper(campaign) {
    const tab = Math.random().toString(36).slice(2, 10);
    let key, full = "";
    const store = (text) => { try { localStorage.setItem(key, text); return true; } catch { return false; } };
    const of = (id) => {
      if (key) forget(key);
      key = `${KEPT}${id}:${tab}`;
      navigator.locks?.request(key, () => new Promise(() => {})).catch(() => null);
    };
    of(campaign);
    return {
      of,
      drop: () => { full = ""; forget(key); },
      // True if it is kept. Where there is no room, older texts of other campaigns give way.
      put(record) {
        const text = JSON.stringify(record);
        if (text === full) return true;
        if (text.length > LONGEST_KEPT) return false;
        const others = allKept().filter((one) => one.key !== key);
        for (const one of others.slice(MOST_KEPT)) forget(one.key);
        while (!store(text)) { if (!others.length) return false; forget(others.pop().key); }
        full = text;
        return true;
      },
      // What earlier visits have left behind, newest first.
      async others(id) {
        const held = new Set((await navigator.locks?.query().catch(() => null))?.held.map((lock) => lock.name));
        return allKept().filter((one) => one.key.startsWith(`${KEPT}${id}:`) && one.key !== key && !held.has(one.key));
      },
    };
  }
