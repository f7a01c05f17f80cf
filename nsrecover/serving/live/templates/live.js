// Panels are replaced as they change; forms send commands. The server keeps every panel as it is now, so a viewer who
// connects again gets what was missed.
"use strict";
(() => {
  const connection = document.getElementById("connection");
  const reply = document.getElementById("reply");

  function connected(kind, words) {
    connection.className = `mark ${kind}`;
    connection.textContent = words;
  }

  // What is being typed stays, wherever the question moves to and whatever is drawn again, also when the page is loaded again.
  const drafts = JSON.parse(sessionStorage.getItem("drafts") || "{}");
  function keep(id, text) {
    if (text) drafts[id] = text;
    else delete drafts[id];
    sessionStorage.setItem("drafts", JSON.stringify(drafts));
  }
  function restore() {
    for (const [id, text] of Object.entries(drafts)) {
      const input = document.getElementById(id);
      if (input) input.value = text;
    }
  }
  document.addEventListener("input", ({ target }) => {
    if (target.name === "text") keep(target.id, target.value);
  });

  function show(change) {
    const panel = document.getElementById(change.panel);
    if (!panel) return;
    const focused = document.activeElement;
    const at = focused?.selectionStart;
    panel.innerHTML = change.html;
    panel.dataset.at = change.at;
    panel.querySelectorAll(".sketch svg").forEach(still);
    restore();
    countDown();
    call();
    if (document.contains(focused)) return;
    const again = focused?.id ? document.getElementById(focused.id) : undefined;
    again?.focus();
    if (again?.type === "text") again.setSelectionRange(at, at);
  }

  // The title and a sound call for a person, again and again until there is an answer.
  const title = document.title;
  const sound = document.getElementById("call");
  const AGAIN_S = 20;
  let called = { asked: "", at: 0 };
  let audio;
  function beep() {
    if (sound.getAttribute("aria-pressed") !== "true") return;
    audio ??= new AudioContext();
    audio.resume();
    document.body.dataset.beeps = Number(document.body.dataset.beeps || 0) + 1;
    [660, 880].forEach((hertz, i) => {
      const tone = new OscillatorNode(audio, { frequency: hertz });
      const quiet = new GainNode(audio, { gain: 0.15 });
      tone.connect(quiet).connect(audio.destination);
      tone.start(audio.currentTime + i * 0.2);
      tone.stop(audio.currentTime + i * 0.2 + 0.15);
    });
  }
  function call() {
    const asked = document.querySelector(".decision:not(.chosen)")?.dataset.asked || "";
    document.title = asked ? `▲ waits for you: ${title}` : title;
    const now = Date.now() / 1000;
    if (asked && (asked !== called.asked || now - called.at > AGAIN_S)) {
      beep();
      called = { asked, at: now };
    }
    if (!asked) called = { asked, at: 0 };
  }
  function sounds(on) {
    sound.setAttribute("aria-pressed", on);
    localStorage.setItem("sound", on);
  }
  sounds(localStorage.getItem("sound") !== "false");
  sound.addEventListener("click", () => sounds(sound.getAttribute("aria-pressed") !== "true"));
  const operator = document.getElementById("operator");
  operator.value = localStorage.getItem("operator") || "";
  operator.addEventListener("input", () => localStorage.setItem("operator", operator.value));

  // Nothing moves in a picture for those who do not want that; a button shows it again.
  function still(svg) {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) svg.pauseAnimations();
  }
  document.addEventListener("click", ({ target }) => {
    if (!("again" in target.dataset)) return;
    const svg = target.closest("figure").querySelector("svg");
    svg.setCurrentTime(0);
    svg.unpauseAnimations();
  });

  function countDown() {
    for (const time of document.querySelectorAll("time[data-until]")) {
      const left = Number(time.dataset.until) - (Date.now() / 1000 + ahead);
      time.textContent = `${Math.max(0, Math.round(left))} s left`;
    }
  }

  // The robot's program is heard of every second, or its state is not known: nothing can be clicked then but what stops it.
  const SILENT_S = 3;
  let heard = Date.now() / 1000;
  function listen() {
    const silent = Date.now() / 1000 - heard;
    const lost = silent > SILENT_S;
    document.body.classList.toggle("lost", lost);
    for (const button of document.querySelectorAll("form[data-command] button")) {
      button.disabled = lost && !["pause", "stop", "undo"].includes(button.form.dataset.command);
    }
    if (lost) connected("error", `✗ last seen ${Math.round(silent)} s ago`);
    else if (events.readyState === EventSource.OPEN) connected("ok", "● live");
  }

  const ahead = Number(document.body.dataset.now) - Date.now() / 1000; // of this machine's clock
  setInterval(countDown, 1000);
  setInterval(call, 1000);
  countDown();
  restore();
  call();

  const events = new EventSource(`events?after=${document.body.dataset.after}`);
  events.addEventListener("open", () => connected("ok", "● live"));
  events.addEventListener("beat", (event) => {
    heard = Date.now() / 1000 - Number(event.data);
    listen();
  });
  setInterval(listen, 1000);
  events.addEventListener("panel", (event) => show(JSON.parse(event.data)));
  events.addEventListener("error", () => {
    const closed = events.readyState === EventSource.CLOSED;
    connected("error", closed ? "✗ no longer live: load the page again" : "✗ connection lost: trying again");
  });

  document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (!form.dataset.command) return;
    event.preventDefault();
    const body = new URLSearchParams(new FormData(form));
    body.set("clicked", Date.now() / 1000 + ahead);
    body.set("by", operator.value);
    const words = event.submitter?.textContent || "Answer";
    event.submitter?.classList.add("sent");
    reply.textContent = `Sent: ${words}…`;
    try {
      const answer = await fetch(`do/${form.dataset.command}`, { method: "POST", body });
      const { message } = await answer.json();
      const asked = answer.ok && form.dataset.command === "ask"; // the conversation has the answer
      reply.textContent = asked ? "" : `${answer.ok ? "Confirmed" : "Not done"}: ${words}. ${message || ""}`;
      if (answer.ok && form.elements.text) {
        keep(form.elements.text.id, "");
        form.reset();
      }
    } catch {
      reply.textContent = `Not confirmed: ${words}. The robot's page could not be reached; look at it again before you go on.`;
    }
    event.submitter?.classList.remove("sent");
  });
})();
