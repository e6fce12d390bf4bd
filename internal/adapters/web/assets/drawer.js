// The list of conversations is a drawer where the window is narrow.

import { cover } from "./dom.js";

const threads = document.getElementById("threads");
const stage = document.getElementById("stage");
const opener = document.querySelector("[data-drawer=open]");

const open = () => {
  document.body.classList.add("drawer");
  cover(threads, [stage], true);
  threads.querySelector("[data-drawer=close]").focus();
};

/** Closes the drawer; false where it was not open. */
export const closeDrawer = () => {
  if (!document.body.classList.contains("drawer")) return false;
  document.body.classList.remove("drawer");
  cover(threads, [stage], false);
  opener.focus();
  return true;
};

export const handleDrawer = () => {
  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-drawer]");
    if (link) {
      event.preventDefault();
      if (link.dataset.drawer === "open") open();
      else closeDrawer();
    } else if (!event.target.closest("#threads")) {
      closeDrawer();
    }
  });
  matchMedia("(max-width: 60rem)").addEventListener("change", closeDrawer);
};
