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

  const ahead = Number(document.body.dataset.now) - Date.now() / 1000; // of this machine's clock
  setInterval(countDown, 1000);
  countDown();

  const events = new EventSource(`events?after=${document.body.dataset.after}`);
  events.addEventListener("open", () => connected("ok", "● live"));
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
    try {
      const answer = await fetch(`do/${form.dataset.command}`, { method: "POST", body });
      const { message } = await answer.json();
      const asked = answer.ok && form.dataset.command === "ask"; // the conversation has the answer
      reply.textContent = asked ? "" : message;
      if (asked) form.reset();
    } catch {
      reply.textContent = "The robot's page could not be reached.";
    }
  });
})();
