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
  const now = document.getElementById("now");

  function show(number) {
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
    document.getElementById("previous").disabled = chosen === 0;
    document.getElementById("next").disabled = chosen === steps.length - 1;
  }

  slider.addEventListener("input", () => show(Number(slider.value)));
  document.getElementById("previous").addEventListener("click", () => show(Number(slider.value) - 1));
  document.getElementById("next").addEventListener("click", () => show(Number(slider.value) + 1));
  for (const button of document.querySelectorAll("[data-go]")) {
    button.addEventListener("click", () => show(Number(button.dataset.go)));
  }
  show(Number(slider.getAttribute("value")));
})();
