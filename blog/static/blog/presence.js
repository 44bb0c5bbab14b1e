// Tells the server that this page has a post open, and shows who else has it open. Nothing depends on it.
document.addEventListener("DOMContentLoaded", () => {
  const notice = document.getElementById("post-presence");
  if (!notice) return;
  const interval = 30000;
  const format = new Intl.DateTimeFormat(document.documentElement.lang || undefined, { timeStyle: "short" });
  const formatDay = new Intl.DateTimeFormat(document.documentElement.lang || undefined, {
    dateStyle: "medium",
    timeStyle: "short",
  });

  function buildBody() {
    const body = new FormData();
    body.append("csrfmiddlewaretoken", document.querySelector("[name=csrfmiddlewaretoken]").value);
    body.append("_page", notice.dataset.page);
    return body;
  }

  function showPeople(people) {
    const lines = people.map(({ name, since }) => {
      const time = new Date(since);
      const isToday = time.toDateString() === new Date().toDateString();
      return `${name} has had this post open since ${(isToday ? format : formatDay).format(time)}.`;
    });
    if ([...notice.children].map((line) => line.textContent).join("\n") === lines.join("\n")) return;
    notice.replaceChildren(
      ...lines.map((line) => Object.assign(document.createElement("p"), { textContent: line })),
    );
  }

  async function announce() {
    try {
      const response = await fetch(notice.dataset.url, { method: "POST", body: buildBody(), redirect: "error" });
      if (response.ok) showPeople((await response.json()).people);
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
  begin();
});
