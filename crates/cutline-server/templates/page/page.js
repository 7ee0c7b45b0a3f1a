// Keeps pages up to date and posts forms without leaving them. Everything works without it, only less comfortably.
//
// The server makes all HTML. What may change while a page is open is in elements with `data-live` and an id: they are replaced by those of the
// same page, fetched again.
"use strict";

const EVENTS = ["asked", "renewed", "told", "failed", "expired", "observed", "amended", "voided", "withdrawn", "restored", "added", "changed"];
const main = document.getElementById("main");
const parse = (html) => new DOMParser().parseFromString(html, "text/html");

// What a visitor has typed or opened in an element, put into the one that replaces it.
function keep(old, made) {
  for (const field of old.querySelectorAll("input[id], select[id], textarea[id]")) {
    const copy = made.querySelector(`#${CSS.escape(field.id)}`);
    if (copy && field.type !== "hidden" && field.value !== field.defaultValue) copy.value = field.value;
  }
  for (const details of old.querySelectorAll("details[id]")) {
    const copy = made.querySelector(`#${CSS.escape(details.id)}`);
    if (copy) copy.open = details.open;
  }
}

async function replace(fresh) {
  for (const old of document.querySelectorAll("[data-live]")) {
    if (isLeaving) return;
    const next = fresh.getElementById(old.id);
    if (!next || next.isEqualNode(old)) continue;
    const made = document.importNode(next, true);
    // A figure is shown once it is loaded.
    await Promise.all([...made.querySelectorAll("img")].map((image) => image.decode().catch(() => {})));
    keep(old, made);
    const focused = old.contains(document.activeElement) ? document.activeElement : null;
    const selection = focused?.selectionStart != null ? [focused.selectionStart, focused.selectionEnd] : null;
    const scrolled = [...old.querySelectorAll(".scroll")].map((part) => part.scrollLeft);
    old.replaceWith(made);
    [...made.querySelectorAll(".scroll")].forEach((part, index) => { part.scrollLeft = scrolled[index] ?? 0; });
    const again = focused?.id && document.getElementById(focused.id);
    if (again) {
      again.focus({ preventScroll: true });
      if (selection) again.setSelectionRange(...selection);
    }
  }
  announce(fresh);
}

// Screen readers hear of verdicts that change, not of every number.
function announce(fresh) {
  const place = document.getElementById("announcement");
  const words = fresh.querySelector("[data-announce]")?.textContent;
  if (!place || !words) return;
  if (place.dataset.last && place.dataset.last !== words) place.textContent = words;
  place.dataset.last = words;
}

// Refreshing: one at a time, and never so often that the server is busy with it.
let isRefreshing = false, isStale = false, isLeaving = false, timer = 0, earliest = 0;

function refreshSoon(delay = 0) {
  isStale = true;
  if (isRefreshing || isLeaving || timer) return;
  timer = setTimeout(() => { timer = 0; refresh(); }, Math.max(delay, earliest - performance.now()));
}

async function refresh() {
  isRefreshing = true;
  isStale = false;
  const begun = performance.now();
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    const html = await answer.text();
    if (isLeaving) return;
    if (answer.redirected && new URL(answer.url).pathname === "/login") location.reload();
    else if (answer.ok) await replace(parse(html));
  } catch { /* The stream says that the server is gone, and when it is back. */ } finally {
    const duration = performance.now() - begun;
    earliest = performance.now() + Math.max(300, 3 * duration);
    isRefreshing = false;
    if (isStale) refreshSoon();
  }
}

// The stream of events. It is closed while nobody looks, so that forgotten tabs cost nothing.
let source = null;

function say(state, words) {
  const place = document.getElementById("live");
  if (!place) return;
  place.hidden = false;
  place.textContent = words;
  place.classList.toggle("is-live", state);
}

function listen() {
  if (source || isLeaving || document.hidden) return;
  source = new EventSource(`${main.dataset.stream}?after=${main.dataset.after}`);
  source.onopen = () => say(true, "live");
  source.onerror = () => {
    say(false, "reconnecting");
    if (source?.readyState === EventSource.CLOSED) { source = null; setTimeout(listen, 5000); }
  };
  const happened = (event) => { main.dataset.after = event.lastEventId; refreshSoon(100); };
  for (const name of EVENTS) source.addEventListener(name, happened);
}

// Nothing is fetched any more for a page that is being left.
function leave() {
  isLeaving = true;
  clearTimeout(timer);
  timer = 0;
  source?.close();
  source = null;
}

function look() {
  if (isLeaving) return;
  if (document.hidden) { source?.close(); source = null; return; }
  if (main.dataset.stream) listen();
  refreshSoon();
}

if (main.dataset.stream || main.dataset.poll) {
  if (main.dataset.stream) listen();
  announce(document);
  document.addEventListener("visibilitychange", look);
  addEventListener("pageshow", (event) => { if (event.persisted) { isLeaving = false; look(); } });
  addEventListener("pagehide", () => { source?.close(); source = null; });
  // Times such as “3 min ago” and leases that end.
  setInterval(() => { if (!document.hidden) refreshSoon(); }, 1000 * (main.dataset.poll ?? 30));
}

// A message, where screen readers look for it.
function notify(text, isFailure) {
  const paragraph = document.createElement("p");
  paragraph.className = isFailure ? "notice failure" : "notice";
  paragraph.textContent = text;
  const place = document.getElementById("notice");
  place.replaceChildren(paragraph);
  return place;
}

async function post(form, submitter) {
  const data = new FormData(form);
  if (submitter?.name) data.append(submitter.name, submitter.value);
  const buttons = [...form.querySelectorAll("button")];
  buttons.forEach((button) => { button.disabled = true; });
  try {
    const answer = await fetch(form.action, { method: "POST", body: new URLSearchParams(data) });
    if (answer.redirected && new URL(answer.url).pathname === "/login") return location.assign(answer.url);
    const fresh = parse(await answer.text());
    const words = fresh.getElementById("notice")?.textContent.trim() || fresh.querySelector("main")?.textContent.trim();
    const place = notify(words || "Something went wrong.", !answer.ok);
    if (!answer.ok) { place.focus(); place.scrollIntoView({ block: "nearest" }); return; }
    const key = fresh.getElementById("ask-key");
    if (key) document.getElementById("ask-key")?.setAttribute("value", key.value);
    const isTell = form.action.endsWith("/tell");
    form.reset();
    if (isTell) form.closest("li")?.nextElementSibling?.querySelector("input[name=reward]")?.focus();
    refreshSoon();
  } catch {
    notify("The server does not answer. Nothing is known about what was sent; look at the events before you send it again.", true).focus();
  } finally {
    buttons.forEach((button) => { button.disabled = false; });
  }
}

document.addEventListener("submit", (event) => {
  if (!event.target.matches("form[data-post]")) {
    // After logging out, a figure that is still to be fetched would be refused.
    if (event.target.matches("form.session")) leave();
    return;
  }
  event.preventDefault();
  post(event.target, event.submitter);
});

// A notice in the address is shown once.
const here = new URL(location.href);
if (here.searchParams.has("notice")) {
  here.searchParams.delete("notice");
  history.replaceState(null, "", here);
}

// Filters apply as they are changed, and are part of the address.
const filter = document.querySelector("form[data-filter]");
if (filter) {
  const apply = () => {
    const filled = [...new FormData(filter)].filter(([, value]) => value !== "");
    history.replaceState(null, "", `${location.pathname}?${new URLSearchParams(filled)}`);
    earliest = 0;
    refreshSoon(150);
  };
  filter.addEventListener("input", apply);
  filter.addEventListener("submit", (event) => { event.preventDefault(); apply(); });
}

// Snippets have the address that the visitor sees, and a button to copy them.
for (const code of document.querySelectorAll("code[data-copy]")) {
  code.textContent = code.textContent.replaceAll(/https?:\/\/[^/\s"']+(?=\/v1\/)/g, location.origin);
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.setAttribute("aria-label", `Copy the ${code.closest("details").querySelector("summary").textContent} snippet`);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch {
      // Without TLS browsers do not give access to the clipboard: select it instead.
      getSelection().selectAllChildren(code);
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  code.closest(".snippet").append(button);
}

// A new campaign: the table is read and simulated as soon as it is dropped.
const form = document.getElementById("new");
if (form) {
  const drop = document.getElementById("drop"), file = document.getElementById("file"), pasted = document.getElementById("table");
  const preview = document.getElementById("preview"), prospect = document.getElementById("prospect");
  let table = null, waiting = 0, running = null;
  drop.hidden = false;

  const settings = () => {
    const filled = [...new FormData(form)].filter(([key, value]) => !["table", "do"].includes(key) && value.trim() !== "");
    return new URLSearchParams(filled.map(([key, value]) => [key, value.trim()]));
  };
  const body = () => table ?? (pasted.value.trim() ? new Blob([pasted.value]) : null);
  const send = (address, signal) => fetch(`${address}?${settings()}`,
    { method: "POST", body: body(), headers: { "Content-Type": "application/octet-stream" }, signal });

  async function show(place, address, words, signal) {
    place.classList.add("busy");
    if (words) place.textContent = words;
    const answer = await send(address, signal);
    const text = await answer.text();
    place.classList.remove("busy");
    if (answer.ok) place.replaceChildren(...parse(text).body.childNodes);
    else place.textContent = JSON.parse(text).detail;
    return answer.ok && !place.querySelector(".failure");
  }

  async function lookAt() {
    running?.abort();
    running = new AbortController();
    if (!body()) return;
    const { signal } = running;
    try {
      const isGood = await show(preview, "/new/preview", "", signal);
      const isComplete = form.elements.threshold.value.trim() && form.elements.budget.value.trim();
      if (isGood && isComplete) await show(prospect, "/new/plan", "Simulating the campaign…", signal);
      else prospect.replaceChildren();
    } catch (error) {
      if (error.name !== "AbortError") preview.textContent = "The table could not be sent.";
    }
  }

  const lookSoon = () => { clearTimeout(waiting); waiting = setTimeout(lookAt, 500); };
  const take = (chosen) => {
    table = chosen ?? null;
    if (!table) return;
    document.getElementById("drop-words").textContent = `${table.name}, ${Math.ceil(table.size / 1024).toLocaleString("en")} KB`;
    if (!form.elements.name.value) form.elements.name.value = table.name.replace(/\.(csv|tsv|txt|gz|xlsx|parquet)/gi, "");
    lookAt();
  };
  file.addEventListener("change", () => take(file.files[0]));
  form.addEventListener("input", (event) => {
    if (event.target === file) return;
    if (event.target === pasted) table = null;
    lookSoon();
  });
  for (const name of ["dragenter", "dragover"]) {
    form.addEventListener(name, (event) => { event.preventDefault(); drop.classList.add("is-over"); });
  }
  for (const name of ["dragleave", "drop"]) form.addEventListener(name, () => drop.classList.remove("is-over"));
  form.addEventListener("drop", (event) => { event.preventDefault(); take(event.dataTransfer.files[0]); });

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (event.submitter?.value === "look") return lookAt();
    if (!body()) { notify("Choose a table of candidates first.", true).focus(); return; }
    event.submitter.disabled = true;
    try {
      const answer = await send("/v1/campaigns");
      const begun = await answer.json();
      if (answer.ok) location.assign(`/campaigns/${encodeURIComponent(begun.name)}?notice=begun`);
      else notify(begun.detail, true).focus();
    } catch {
      notify("The server does not answer.", true).focus();
    }
    event.submitter.disabled = false;
  });
}
