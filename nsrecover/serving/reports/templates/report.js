// One step is shown at a time; the slider, the buttons and the list of the way choose it.
"use strict";
(() => {
  document.documentElement.classList.add("script");
  const steps = [...document.querySelectorAll(".step")];
  const slider = document.getElementById("slider");
  document.getElementById("numbers")?.addEventListener("change", (event) => {
    document.body.classList.toggle("with-numbers", event.target.checked);
  });
  if (!slider) return;
  const marks = [...document.querySelectorAll(".track span")];
  const way = [...document.querySelectorAll(".way li")];
  const list = document.querySelector("ol.way");
  // the list ends where the first screen does
  list.style.setProperty("--above", `${list.getBoundingClientRect().top + window.scrollY + 24}px`);
  const now = document.getElementById("now");
  const film = document.querySelector("video");
  const ends = steps.map((step) => Number(step.dataset.ends));

  function show(number, byFilm = false) {
    const chosen = Math.min(Math.max(number, 0), steps.length - 1);
    slider.value = chosen;
    slider.setAttribute("aria-valuetext", steps[chosen].dataset.label);
    now.textContent = steps[chosen].dataset.label;
    steps.forEach((step, i) => {
      step.hidden = i !== chosen;
      if (i !== chosen) step.querySelector("audio")?.pause();
    });
    marks.forEach((mark, i) => mark.classList.toggle("current", i === chosen));
    way.forEach((entry) => {
      const current = entry.dataset.of === String(chosen);
      entry.classList.toggle("current", current);
      if (current) entry.setAttribute("aria-current", "step");
      else entry.removeAttribute("aria-current");
    });
    follow();
    if (film && !byFilm) seek();
    document.getElementById("previous").disabled = chosen === 0;
    document.getElementById("next").disabled = chosen === steps.length - 1;
  }

  // Moves the film to the end of the step that is shown.
  function seek() {
    if (film.readyState > 0) film.currentTime = Math.min(ends[Number(slider.value)], film.duration - 0.05);
    else film.addEventListener("loadedmetadata", seek, { once: true });
  }

  film?.addEventListener("timeupdate", () => {
    if (film.paused) return;
    const going = ends.findIndex((end) => film.currentTime <= end);
    const step = going < 0 ? steps.length - 1 : going;
    if (step !== Number(slider.value)) show(step, true);
  });

  // Scrolls the list, and nothing else, to the entry of the step; what follows until the plan is rejoined is shown, too.
  function follow() {
    const first = way.findIndex((entry) => entry.hasAttribute("aria-current"));
    if (first < 0) return;
    const rejoined = way.findIndex((entry, i) => i > first && entry.classList.contains("rejoin"));
    const last = way[rejoined < 0 || !way[first + 1]?.matches(".recovery, .proposed, .vetoed, .skipped, .helped, .rejoin") ? first : rejoined];
    const [top, bottom] = [way[first].offsetTop, last.offsetTop + last.offsetHeight];
    if (bottom > list.scrollTop + list.clientHeight) list.scrollTop = bottom - list.clientHeight;
    if (top < list.scrollTop) list.scrollTop = top;
  }

  slider.addEventListener("input", () => show(Number(slider.value)));
  document.getElementById("previous").addEventListener("click", () => show(Number(slider.value) - 1));
  document.getElementById("next").addEventListener("click", () => show(Number(slider.value) + 1));
  for (const button of document.querySelectorAll("[data-go]")) {
    button.addEventListener("click", () => show(Number(button.dataset.go)));
  }
  show(Number(slider.getAttribute("value")));
})();
