// The page works without this script: forms are sent and pages come back. With it,
// messages are sent in place and the event stream brings steps and answers as they come.
(() => {
  "use strict";
  const thread = document.body.dataset.thread;
  const conversation = document.getElementById("conversation");
  const composer = document.getElementById("composer");
  const text = document.getElementById("text");
  const notice = document.getElementById("notice");
  const status = document.getElementById("status");
  let sent = ""; // id of the exchange that this window started last

  const parse = (html) => {
    const template = document.createElement("template");
    template.innerHTML = html;
    return template.content;
  };

  const replace = (exchange, part, content) => {
    const place = exchange.querySelector(".part-" + part);
    const inside = place.contains(document.activeElement);
    place.replaceChildren(...content);
    if (inside) text.focus();
  };

  const announce = (exchange) => {
    const steps = exchange.querySelector(".steps");
    const current = steps ? steps.dataset.current : "";
    if (current && status.textContent !== current) status.textContent = current;
  };

  const show = (exchange) => {
    if (exchange.id === sent) exchange.scrollIntoView({ block: "start", behavior: calm() });
  };

  const calm = () => (matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth");

  const apply = (update) => {
    let exchange = document.getElementById(update.id);
    if (update.exchange) {
      const fresh = parse(update.exchange).querySelector(".exchange");
      if (exchange) {
        for (const part of ["steps", "said"]) {
          replace(exchange, part, fresh.querySelector(".part-" + part).childNodes);
        }
      } else {
        conversation.append(fresh);
        exchange = fresh;
        document.getElementById("empty")?.remove();
        show(exchange);
      }
    }
    if (!exchange) return;
    if (update.steps !== undefined) replace(exchange, "steps", parse(update.steps).childNodes);
    if (update.said !== undefined) replace(exchange, "said", parse(update.said).childNodes);
    announce(exchange);
    if (!update.working) status.textContent = "";
  };

  const complain = (problem) => {
    notice.textContent = problem;
    notice.hidden = !problem;
  };

  const send = async (form, submitter) => {
    const body = new URLSearchParams(new FormData(form, submitter));
    if (form !== composer && body.has("text")) body.set("depth", composer.elements.depth.value);
    try {
      const response = await fetch(form.action, { method: "POST", body, headers: { Accept: "application/json" } });
      const answer = await response.json();
      complain(answer.error || "");
      if (answer.message) {
        sent = answer.message;
        const exchange = document.getElementById(sent);
        if (exchange) show(exchange);
      }
      return response.ok;
    } catch {
      complain("Cairn could not be reached. Check that it runs, then send again.");
      return false;
    }
  };

  document.addEventListener("submit", async (event) => {
    event.preventDefault();
    const form = event.target;
    if (form === composer) {
      const draft = text.value;
      if (!draft.trim()) return;
      const sending = send(form); // reads the form before it is emptied
      text.value = "";
      if (!(await sending)) text.value = draft;
      text.focus();
      return;
    }
    const button = event.submitter;
    const sending = send(form, button);
    button.disabled = true; // the stream replaces it, unless sending fails
    if (!(await sending)) button.disabled = false;
  });

  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      composer.requestSubmit();
    }
  });

  const events = new EventSource(`/t/${thread}/events?since=${document.body.dataset.seen}`);
  events.onmessage = (event) => {
    apply(JSON.parse(event.data));
  };
  text.focus();
})();
