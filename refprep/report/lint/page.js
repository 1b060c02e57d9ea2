// Plays spans, follows the player, fits labels, filters. The page says all it has to say without this.
(() => {
  "use strict";
  const main = document.querySelector("main");
  const filter = document.getElementById("filter");
  const fields = filter.elements;
  const pairs = [...document.querySelectorAll(".pair")];
  // The summary is known last and written last; it is read first.
  main.before(document.getElementById("summary"), filter);
  filter.hidden = false;

  // ---------------------------------------------------------------- player

  const SHORTEST_S = 0.15;
  const known = new WeakMap();
  let current = null; // the pair last played: its parts, and where to stop

  const partsOf = (pair) => {
    if (!known.has(pair)) {
      const wave = pair.querySelector(".wave");
      known.set(pair, wave && {
        wave,
        audio: pair.querySelector("audio"),
        duration: Number(wave.dataset.duration),
        head: wave.querySelector(".playhead"),
        played: wave.querySelector(".played"),
        frame: pair.querySelector(".scroll"),
        words: [...pair.querySelectorAll("[data-word]")],
        from: 0,
        until: Infinity,
      });
    }
    return known.get(pair);
  };

  const use = (parts) => {
    if (current && current !== parts) current.audio.pause();
    current = parts;
  };

  const play = (pair, from, to) => {
    const parts = partsOf(pair);
    if (!parts) return;
    use(parts);
    parts.from = from;
    parts.until = to === null ? Infinity : Math.max(to, from + SHORTEST_S);
    const start = () => {
      parts.audio.currentTime = from;
      parts.audio.play().catch(() => {});
    };
    if (parts.audio.readyState > 0) {
      start();
    } else {
      parts.audio.addEventListener("loadedmetadata", start, { once: true });
      parts.audio.load();
    }
  };

  const show = (parts) => {
    const now = parts.audio.currentTime;
    if (now >= parts.until) {
      parts.audio.pause();
      parts.until = Infinity;
    }
    const percent = `${parts.duration > 0 ? Math.min(100, (100 * now) / parts.duration) : 0}%`;
    parts.wave.classList.toggle("started", now > 0);
    parts.head.setAttribute("x1", percent);
    parts.head.setAttribute("x2", percent);
    parts.played.setAttribute("width", percent);
    if (parts.frame && !parts.audio.paused) {
      const at = (parts.frame.scrollWidth * now) / parts.duration - parts.frame.scrollLeft;
      if (at < 0 || at > parts.frame.clientWidth) parts.frame.scrollLeft += at - parts.frame.clientWidth / 10;
    }
    for (const word of parts.words) {
      const isNow = !parts.audio.paused && now >= Number(word.dataset.from) && now < Number(word.dataset.to);
      word.classList.toggle("now", isNow);
    }
  };

  const follow = (parts) => {
    show(parts);
    if (!parts.audio.paused) requestAnimationFrame(() => follow(parts));
  };

  const onMedia = (name, act) => {
    // Media events do not bubble; they are caught on their way down.
    main.addEventListener(name, (event) => {
      const pair = event.target.closest(".pair");
      const parts = pair && partsOf(pair);
      if (parts) act(parts);
    }, true);
  };
  onMedia("play", (parts) => { use(parts); follow(parts); });
  onMedia("pause", show);
  onMedia("timeupdate", show);
  onMedia("seeked", show);
  onMedia("seeking", (parts) => {
    // The listener took the player's own slider: the span is no longer what they want.
    if (Math.abs(parts.audio.currentTime - parts.from) > 0.05) parts.until = Infinity;
  });

  // ---------------------------------------------------------------- clicks and keys

  const copy = async (button) => {
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(button.parentElement.querySelector(".suggested"));
      button.textContent = "Selected";
    }
  };

  main.addEventListener("click", (event) => {
    const pair = event.target.closest(".pair");
    const span = event.target.closest("[data-from]");
    const button = event.target.closest("[data-copy]");
    if (button) {
      copy(button);
    } else if (span) {
      play(pair, Number(span.dataset.from), Number(span.dataset.to));
    } else if (event.target.closest(".surface")) {
      const { wave, duration } = partsOf(pair);
      const box = wave.getBoundingClientRect();
      play(pair, (duration * (event.clientX - box.left)) / box.width, null);
    }
  });

  main.addEventListener("keydown", (event) => {
    const text = event.target.closest(".text");
    if (!text || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      event.target.click();
      return;
    }
    const words = [...text.querySelectorAll(".word")];
    const at = words.indexOf(event.target);
    const ahead = getComputedStyle(text).direction === "rtl" ? -1 : 1;
    const to = { ArrowRight: at + ahead, ArrowLeft: at - ahead, Home: 0, End: words.length - 1 }[event.key];
    if (to === undefined || !words[to]) return;
    event.preventDefault();
    event.target.tabIndex = -1;
    words[to].tabIndex = 0;
    words[to].focus();
  });

  const bottom = () => (getComputedStyle(filter).position === "sticky" ? filter.getBoundingClientRect().bottom : 0);
  const stops = () => pairs.filter((pair) => !pair.hidden && pair.querySelector(".finding"));
  const here = () => {
    const focused = document.activeElement.closest(".pair");
    return focused && !focused.hidden
      ? focused
      : stops().find((pair) => pair.getBoundingClientRect().bottom > bottom() + 40);
  };

  const go = (pair) => {
    if (!pair) return;
    pair.scrollIntoView({ block: "start" });
    pair.querySelector("h2").focus({ preventScroll: true });
  };

  const step = (by) => {
    const list = stops();
    const focused = document.activeElement.closest(".pair");
    const at = pairs.indexOf(focused || here());
    if (!focused && by > 0 && scrollY < 10) return go(list[0]);
    go(by > 0 ? list.find((pair) => pairs.indexOf(pair) > at) : list.findLast((pair) => pairs.indexOf(pair) < at));
  };

  document.addEventListener("keydown", (event) => {
    if (!fields.keys.checked || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.target.closest("select, audio, input:not([type=checkbox])")) return;
    if (event.key === "j") step(1);
    if (event.key === "k") step(-1);
    if (event.key === "p") {
      if (current && !current.audio.paused) current.audio.pause();
      else if (here()) play(here(), 0, null);
    }
  });

  // ---------------------------------------------------------------- labels

  // Each word's label takes the first of three rows where it touches no other; one that fits nowhere stays a tick.
  const ROWS = 3, ROW_HEIGHT = 14, BETWEEN = 6;
  const fit = (wave) => {
    const width = wave.getBoundingClientRect().width;
    const duration = Number(wave.dataset.duration);
    const ends = Array(ROWS).fill(-BETWEEN);
    const labels = [...wave.querySelectorAll(".label")];
    const wide = labels.map((label) => label.getComputedTextLength());
    labels.forEach((label, k) => {
      const { from, to } = label.parentElement.dataset;
      const middle = (width * (Number(from) + Number(to))) / 2 / duration;
      const left = Math.max(0, Math.min(width - wide[k], middle - wide[k] / 2));
      const row = ends.findIndex((end) => end + BETWEEN <= left);
      label.classList.toggle("fits", row >= 0);
      if (row < 0) return;
      ends[row] = left + wide[k];
      label.dataset.top ??= label.getAttribute("y");
      label.setAttribute("x", left);
      label.setAttribute("y", Number(label.dataset.top) + row * ROW_HEIGHT);
    });
    for (const text of wave.querySelectorAll(".fitted")) {
      const room = text.previousElementSibling.getBoundingClientRect().width;
      text.classList.toggle("fits", text.getComputedTextLength() + BETWEEN <= room);
    }
  };

  const resized = new ResizeObserver((entries) => entries.forEach((entry) => fit(entry.target)));
  const near = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      near.unobserve(target);
      const parts = partsOf(target);
      if (!parts) continue;
      parts.audio.preload = "metadata"; // so that the player shows its length
      resized.observe(parts.wave);
      target.querySelectorAll(".text .word").forEach((word, k) => { word.tabIndex = k ? -1 : 0; });
    }
  }, { rootMargin: "600px" });
  pairs.forEach((pair) => near.observe(pair));

  // ---------------------------------------------------------------- filter

  const apply = () => {
    const severities = new Set([...fields.severity].filter((box) => box.checked).map((box) => box.value));
    const code = fields.code.value;
    const isNarrowed = fields.only.checked || code !== "" || severities.size < fields.severity.length;
    const options = [fields.jump.options[0]];
    for (const pair of pairs) {
      const findings = [...pair.querySelectorAll(".finding")];
      for (const finding of findings) {
        const isShown = severities.has(finding.dataset.severity) && (code === "" || finding.dataset.code === code);
        finding.hidden = !isShown;
        pair.querySelector(`.mark[data-finding="${finding.dataset.finding}"]`)?.toggleAttribute("hidden", !isShown);
      }
      pair.hidden = findings.length ? findings.every((finding) => finding.hidden) : isNarrowed;
      if (findings.length && !pair.hidden) {
        options.push(new Option(`${pair.id.replace("pair-", "")}  ${pair.querySelector("h2").textContent}`, pair.id));
      }
    }
    fields.jump.replaceChildren(...options);
    fields.shown.value = `${pairs.filter((pair) => !pair.hidden).length} of ${pairs.length} shown`;
  };

  filter.addEventListener("submit", (event) => event.preventDefault());
  filter.addEventListener("change", (event) => {
    if (event.target === fields.jump) {
      go(document.getElementById(fields.jump.value));
      fields.jump.value = "";
    } else if (event.target !== fields.keys) {
      apply();
    }
  });
  fields.next.addEventListener("click", () => step(1));
  fields.previous.addEventListener("click", () => step(-1));
  apply();
})();
