// Which maps are shown: all side by side or one alone, whose points move to the next model; and the full page.

const MOVE_MS = 900;

// A row of buttons, one for each model; the first shows all maps side by side. `choose` gets a model's name or null.
function modelChoice(data, words, choose) {
  const row = element("div", "tools models");
  row.setAttribute("role", "group");
  row.setAttribute("aria-label", words.models);
  if (data.models.length < 2) return { row, mark: () => {} };
  const choices = [[null, words.side_by_side], ...data.models.map(({ name, title }) => [name, title])].map(([name, title]) => {
    const choice = button(title, name === null ? "" : words.alone_help, () => choose(name));
    row.append(choice);
    return [name, choice];
  });
  return { row, mark: (alone) => choices.forEach(([name, choice]) => choice.setAttribute("aria-pressed", name === alone)) };
}

// A button that shows `parts` of `root` on the full page, and brings them back.
function fullPage(root, parts, words) {
  const dialog = element("dialog", "full");
  dialog.setAttribute("aria-label", words.full_page);
  const toggle = button(words.full_page, "", () => {
    if (dialog.open) dialog.close();
    else {
      root.append(dialog);
      dialog.append(...parts());
      dialog.showModal();
      toggle.textContent = words.close;
      toggle.focus();
    }
  });
  dialog.addEventListener("close", () => {
    root.append(...parts());
    dialog.remove();
    toggle.textContent = words.full_page;
    toggle.focus();
  });
  return toggle;
}

// Calls `draw` with a share from 0 to 1 in every frame, eased; at once with 1 for readers who want no motion.
function animate(draw) {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return draw(1);
  const start = performance.now();
  const step = (now) => {
    const share = Math.min(1, Math.max(0, (now - start) / MOVE_MS));
    draw(share < 1 ? share * share * (3 - 2 * share) : 1);
    if (share < 1) requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}
