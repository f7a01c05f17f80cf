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

  function show(change) {
    const panel = document.getElementById(change.panel);
    if (!panel) return;
    const focused = panel.contains(document.activeElement) ? document.activeElement : undefined;
    panel.innerHTML = change.html;
    panel.dataset.at = change.at;
    countDown();
    const again = focused?.id ? document.getElementById(focused.id) : undefined;
    if (!again) return;
    if (focused.type === "text") again.value = focused.value; // what is being typed stays
    again.focus();
  }

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
      button.disabled = lost && !["pause", "stop"].includes(button.form.dataset.command);
    }
    if (lost) connected("error", `✗ last seen ${Math.round(silent)} s ago`);
    else if (events.readyState === EventSource.OPEN) connected("ok", "● live");
  }

  const ahead = Number(document.body.dataset.now) - Date.now() / 1000; // of this machine's clock
  setInterval(countDown, 1000);
  countDown();

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
    reply.textContent = "Sent.";
    try {
      const answer = await fetch(`do/${form.dataset.command}`, { method: "POST", body });
      const { message } = await answer.json();
      const asked = answer.ok && form.dataset.command === "ask"; // the conversation has the answer
      reply.textContent = asked ? "" : message || "Done.";
      if (asked) form.reset();
    } catch {
      reply.textContent = "The robot's page could not be reached.";
    }
  });
})();
