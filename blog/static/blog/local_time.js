// Shows the times of forms in the time zone of the browser, and sends the name of that zone with them. Without this
// script the times are in UTC, and the page says so.
(() => {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const describe = new Intl.DateTimeFormat(undefined, { dateStyle: "long", timeStyle: "short" });

  function formatLocal(moment) {
    const pad = (number, length = 2) => String(number).padStart(length, "0");
    const day = `${pad(moment.getFullYear(), 4)}-${pad(moment.getMonth() + 1)}-${pad(moment.getDate())}`;
    return `${day}T${pad(moment.getHours())}:${pad(moment.getMinutes())}:${pad(moment.getSeconds())}`;
  }

  function enhance(field) {
    const input = field.querySelector("[name$=_local]");
    const zoneInput = field.querySelector("[name$=_zone]");
    if (!input || !zoneInput || !zone) return;
    if (!zoneInput.value) {
      if (input.value) input.value = formatLocal(new Date(`${input.value}Z`));
      zoneInput.value = zone;
    }
    field.querySelector(".local-time-zone").textContent = zoneInput.value;
    const result = document.querySelector(`[data-result-of="${input.name}"]`);
    if (!result) return;
    const show = () => {
      const moment = new Date(input.value);
      const isKnown = input.value && !Number.isNaN(moment.getTime());
      result.textContent = isKnown ? `${describe.format(moment)} (${zoneInput.value})` : "the time that you choose";
    };
    input.addEventListener("input", show);
    show();
  }

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("[data-local-time]").forEach(enhance);
  });
})();
