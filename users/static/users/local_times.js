// Shows each <time data-local> in the time zone of the browser. Without this script, the page shows UTC.
document.addEventListener("DOMContentLoaded", () => {
  const format = new Intl.DateTimeFormat(document.documentElement.lang || undefined, {
    dateStyle: "medium",
    timeStyle: "short",
  });
  for (const time of document.querySelectorAll("time[data-local]")) {
    time.title = time.textContent.trim();
    time.textContent = format.format(new Date(time.dateTime));
  }
});
