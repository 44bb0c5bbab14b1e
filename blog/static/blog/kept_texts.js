// Keeps texts that are not saved in this browser, for the user who is logged in. Every page of the admin loads this
// script: it removes a text that was saved, and texts older than 30 days.
"use strict";

window.keptTexts = (() => {
  const PREFIX = "kept-text:";
  const COOKIE = "saved_text";
  const MAX_AGE = 30 * 24 * 3600 * 1000;
  const MAX_TEXTS = 20;
  const user = new URL(document.currentScript.src).searchParams.get("user") || "";

  function read(id) {
    try {
      const text = JSON.parse(localStorage.getItem(id));
      return text && typeof text.time === "number" && text.values ? { ...text, id } : null;
    } catch {
      return null;
    }
  }

  // Returns the kept texts of all users, the newest first. What cannot be read is removed.
  function listAll() {
    const texts = [];
    for (const id of Object.keys(localStorage).filter((key) => key.startsWith(PREFIX))) {
      const text = read(id);
      if (text) texts.push(text);
      else localStorage.removeItem(id);
    }
    return texts.sort((one, other) => other.time - one.time);
  }

  function isOf(id, post) {
    return id.startsWith(`${PREFIX}${user}:${post}:`);
  }

  function buildId(post) {
    // crypto.randomUUID exists on HTTPS and localhost only.
    const bytes = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0"));
    const random = bytes.join("").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
    return `${PREFIX}${user}:${post}:${random}`;
  }

  function list(post) {
    return listAll().filter(({ id }) => isOf(id, post));
  }

  function remove(id) {
    localStorage.removeItem(id);
  }

  // Returns whether the text is kept. If the storage is full, older texts are removed, the oldest first.
  function keep(id, version, values) {
    const content = JSON.stringify({ time: Date.now(), version, values });
    const others = listAll().filter((text) => text.id !== id);
    for (const { id: old } of others.splice(MAX_TEXTS - 1)) remove(old);
    for (;;) {
      try {
        localStorage.setItem(id, content);
        return true;
      } catch {
        if (!others.length) return false;
        remove(others.pop().id);
      }
    }
  }

  function removeOld() {
    for (const { id, time } of listAll()) if (time < Date.now() - MAX_AGE) remove(id);
  }

  function removeSaved() {
    const cookie = document.cookie.split("; ").find((pair) => pair.startsWith(`${COOKIE}=`));
    if (!cookie) return;
    const id = decodeURIComponent(cookie.slice(COOKIE.length + 1)).replace(/^"|"$/g, "");
    if (id.startsWith(PREFIX)) remove(id);
    document.cookie = `${COOKIE}=; Max-Age=0; path=/admin/`;
  }

  try {
    removeSaved();
    removeOld();
  } catch {
    // The browser forbids storage. The form then states that it keeps nothing.
  }
  return { user, buildId, isOf, list, keep, remove };
})();
