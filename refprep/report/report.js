// Seeks the player and follows it. The page says all it has to say without this.
(() => {
  "use strict";
  const audio = document.querySelector("audio");
  const wave = document.querySelector(".wave");
  const playhead = document.getElementById("playhead");
  const played = document.getElementById("played-part");
  const words = [...document.querySelectorAll(".word")];
  const ticks = [...document.querySelectorAll(".tick")];
  const duration = Number(wave.dataset.duration);
  // Where a clip, or a shorter reference, ends; playback stops there.
  let until = Infinity;

  const playAt = (seconds, end) => {
    until = end === undefined ? Infinity : Number(end);
    audio.currentTime = seconds;
    audio.play().catch(() => {});
  };

  const show = () => {
    const now = audio.currentTime;
    const percent = duration > 0 ? Math.min(100, (100 * now) / duration) : 0;
    playhead.setAttribute("x1", `${percent}%`);
    playhead.setAttribute("x2", `${percent}%`);
    played.setAttribute("width", percent * 10);
    words.forEach((word, k) => {
      const isNow = now > 0 && now >= Number(word.dataset.seek) && now < Number(word.dataset.end);
      word.classList.toggle("now", isNow);
      if (ticks[k]) ticks[k].classList.toggle("now", isNow);
    });
  };

  const follow = () => {
    if (audio.currentTime >= until) {
      audio.pause();
      until = Infinity;
    }
    show();
    if (!audio.paused) requestAnimationFrame(follow);
  };

  document.addEventListener("click", (event) => {
    const target = event.target.closest("[data-seek]");
    if (target) {
      playAt(Number(target.dataset.seek), target.dataset.until);
    } else if (event.target.closest(".surface")) {
      const box = wave.getBoundingClientRect();
      playAt((duration * (event.clientX - box.left)) / box.width);
    }
  });
  document.addEventListener("keydown", (event) => {
    const target = event.target.closest("g[data-seek]");
    if (target && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      playAt(Number(target.dataset.seek), target.dataset.until);
    }
  });
  audio.addEventListener("play", follow);
  audio.addEventListener("seeked", show);
  audio.addEventListener("timeupdate", show);
})();
