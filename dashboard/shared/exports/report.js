// The search of a report's tables: rows without the words are hidden, and how many are left is said.
for (const section of document.querySelectorAll("section")) {
  const box = section.querySelector("input[type=search]");
  if (!box) continue;
  const rows = [...section.querySelectorAll("tbody tr")];
  const said = section.querySelector("output");
  const texts = rows.map((row) => row.textContent.normalize("NFKC").toLowerCase());
  box.addEventListener("input", () => {
    const words = box.value.normalize("NFKC").toLowerCase().split(/\s+/).filter(Boolean);
    let left = 0;
    rows.forEach((row, index) => {
      row.hidden = !words.every((word) => texts[index].includes(word));
      left += row.hidden ? 0 : 1;
    });
    said.textContent = words.length ? `${left} / ${rows.length}` : "";
  });
}
