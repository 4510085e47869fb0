// What a page does beyond being read: theme, sorting, finding, views, and opening what a link points to. All of it works without.
"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("script");

  // Before anything is painted. Some browsers refuse storage to pages from disk: then the choice lasts as long as the page.
  const remembered = { get: () => null, set: () => {} };
  try {
    const storage = window.localStorage;
    remembered.get = () => storage.getItem("opcost-theme");
    remembered.set = (theme) => storage.setItem("opcost-theme", theme);
  } catch { /* without */ }
  const known = remembered.get();
  if (known === "light" || known === "dark") root.dataset.theme = known;

  function themeButton(button) {
    const system = window.matchMedia("(prefers-color-scheme: dark)");
    const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
    const show = () => { button.textContent = dark() ? "Light theme" : "Dark theme"; };
    button.hidden = false;
    button.addEventListener("click", () => {
      root.dataset.theme = dark() ? "light" : "dark";
      remembered.set(root.dataset.theme);
      show();
    });
    system.addEventListener("change", show);
    show();
  }

  const valueOf = (cell) => {
    const value = cell.dataset.value ?? cell.textContent.trim();
    const number = Number(value);
    return value !== "" && Number.isFinite(number) ? number : value;
  };

  function sortBy(header) {
    const table = header.closest("table");
    const column = header.cellIndex;
    const before = header.getAttribute("aria-sort");
    const numbers = header.classList.contains("number");
    // Figures are read from the largest down, words from the first on.
    const rising = before === "none" ? !numbers : before === "descending";
    for (const other of header.parentElement.cells) if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none");
    header.setAttribute("aria-sort", rising ? "ascending" : "descending");
    const body = table.tBodies[0];
    const rows = Array.from(body.rows, (row) => [valueOf(row.cells[column]), row]);
    const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b)));
    rows.sort(([a], [b]) => (rising ? compare(a, b) : compare(b, a)));
    body.append(...rows.map(([, row]) => row));
  }

  function views(list) {
    const tabs = Array.from(list.querySelectorAll("[role=tab]"));
    const choose = (chosen, focus) => {
      for (const tab of tabs) {
        const is = tab === chosen;
        tab.setAttribute("aria-selected", String(is));
        tab.tabIndex = is ? 0 : -1;
        document.getElementById(tab.getAttribute("aria-controls")).hidden = !is;
      }
      if (focus) chosen.focus();
    };
    list.hidden = false;
    list.addEventListener("click", (event) => { if (tabs.includes(event.target)) choose(event.target, false); });
    list.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const at = tabs.indexOf(document.activeElement);
      choose(tabs[(at + step + tabs.length) % tabs.length], true);
    });
    choose(tabs.find((tab) => tab.getAttribute("aria-selected") === "true") ?? tabs[0], false);
  }

  function reveal() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    const input = document.querySelector(".find input");
    if (input?.value && target.closest("[hidden]")) {
      input.value = "";
      input.dispatchEvent(new Event("input"));
    }
    for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    target.scrollIntoView();
  }

  // Of few tests nobody has to find one.
  const FEW = 12;

  function search(box) {
    const rows = Array.from(document.querySelectorAll("table.verdicts tbody tr"));
    if (rows.length <= FEW) return;
    const titles = rows.map((row) => row.cells[1].querySelector("a").textContent.toLowerCase());
    const families = Array.from(document.querySelectorAll(".family"));
    const [input, status] = [box.querySelector("input"), box.querySelector("[role=status]")];
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/);
      const pages = new Set();
      let count = 0;
      rows.forEach((row, at) => {
        row.hidden = !words.every((word) => titles[at].includes(word));
        if (row.hidden) return;
        pages.add(row.dataset.page);
        count += 1;
      });
      for (const family of families) family.hidden = !pages.has(family.dataset.page);
      if (families.length) families[0].parentElement.hidden = count === 0;
      status.textContent = input.value.trim() ? `${count} of ${rows.length}` : "";
    });
    box.hidden = false;
  }

  function sections() {
    const all = Array.from(document.querySelectorAll("details.test"));
    for (const [name, open] of [["open-all", true], ["close-all", false]]) {
      const button = document.querySelector(`.${name}`);
      if (!button) continue;
      button.hidden = all.length < 2;
      button.addEventListener("click", () => { for (const one of all) one.open = open; });
    }
    // On paper nothing can be opened.
    let closed = [];
    window.addEventListener("beforeprint", () => {
      closed = all.filter((one) => !one.open);
      for (const one of closed) one.open = true;
    });
    window.addEventListener("afterprint", () => { for (const one of closed) one.open = false; });
  }

  document.addEventListener("DOMContentLoaded", () => {
    for (const button of document.querySelectorAll(".theme")) themeButton(button);
    for (const list of document.querySelectorAll("[role=tablist]")) views(list);
    document.addEventListener("click", (event) => {
      const button = event.target.closest?.("button.sort");
      if (button) sortBy(button.closest("th"));
    });
    for (const box of document.querySelectorAll(".find")) search(box);
    sections();
    window.addEventListener("hashchange", reveal);
    reveal();
  });
})();
