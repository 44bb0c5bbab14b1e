// Tells the server that this page has a post open, and shows who else has it open and who has saved it since.
// Nothing depends on it.
document.addEventListener("DOMContentLoaded", () => {
  const notice = document.getElementById("post-presence");
  const interval = 10000;
  const NAMES = ["csrfmiddlewaretoken", "_page", "opened_version", "opened_copy"];
  const form = notice.closest("form");
  const format = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });
  const formatDay = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

  function buildBody() {
    const body = new FormData();
    for (const name of NAMES) body.append(name, form.elements[name].value);
    return body;
  }

  function describeTime(text) {
    const time = new Date(text);
    const isToday = time.toDateString() === new Date().toDateString();
    return (isToday ? format : formatDay).format(time);
  }

  function buildLine(text, ...more) {
    const line = document.createElement("p");
    line.append(text, ...more);
    return line;
  }

  function describeSave({ name, at, action }) {
    const time = describeTime(at);
    const link = document.createElement("a");
    Object.assign(link, { href: location.href, textContent: "Load the present version" });
    const event = name ? `${name} ${action} at ${time}` : `This post was changed at ${time}`;
    return buildLine(`${event}. This page has an earlier version. If you save, you see both. `, link);
  }

  function show({ people, save }) {
    const lines = people.map(({ name, since }) =>
      buildLine(`${name} has had this post open since ${describeTime(since)}.`),
    );
    if (save) lines.unshift(describeSave(save));
    const texts = (elements) => elements.map((line) => line.textContent).join("\n");
    if (texts([...notice.children]) !== texts(lines)) notice.replaceChildren(...lines);
  }

  async function announce() {
    try {
      await form.autosave; // its response has the versions that this page then shows
      const body = buildBody();
      const response = await fetch(notice.dataset.url, { method: "POST", body, redirect: "error" });
      const isSame = NAMES.every((name) => form.elements[name].value === body.get(name));
      if (response.ok && isSame && !form.autosave) show(await response.json());
    } catch {
      // Without a network there is no notice.
    }
  }

  let timer = null;
  function begin() {
    announce();
    timer = setInterval(announce, interval);
  }

  addEventListener("pagehide", () => {
    clearInterval(timer);
    const body = buildBody();
    body.append("closed", "yes");
    navigator.sendBeacon(notice.dataset.url, body);
  });
  addEventListener("pageshow", (event) => {
    if (event.persisted) begin();
  });
  // Browsers slow down the timers of pages that are not in view.
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") announce();
  });
  begin();
});
