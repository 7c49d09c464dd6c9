
"use strict";
const search = document.getElementById("search");
search.hidden = false;
search.addEventListener("input", () => {
  const words = search.value.toLowerCase().split(/\s+/);
  for (const item of document.querySelectorAll("[data-text]")) {
    const text = item.dataset.text.toLowerCase();
    item.hidden = !words.every((word) => text.includes(word));
  }
});
