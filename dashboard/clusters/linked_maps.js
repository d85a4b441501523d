// All maps of a run: the tools, the legend and the selection they share. Streamlit calls the default export again whenever
// the data or the theme changes, and its return value at the end. linked_maps.py concatenates the files of this module.

const views = new WeakMap(); // by the element Streamlit gives
const answered = new WeakMap(); // by the element of a request: the row that it requested last
const shown = new Map(); // run -> its view while it is on the page
const memories = new Map(); // run -> what is kept over reruns and visits to other pages: selection, tool, zoom
const memoryOf = (run) => memories.get(run) ?? memories.set(run, { views: new Map(), rows: [] }).get(run);

export default function (component) {
  const { data, parentElement, setStateValue } = component;
  // A second, empty component of this module requests a sentence to highlight, so that the maps need not be sent again.
  if ("requested" in data) {
    // What the address of the page asks for, once at each opening; it counts more than what is remembered.
    if (data.opened !== undefined && memoryOf(data.run).opened !== data.opened) {
      Object.assign(memoryOf(data.run), { opened: data.opened, opening: data, searched: "" });
      shown.get(data.run)?.open();
    }
    // A search selects what it finds, once; without a text it selects nothing.
    const memory = memoryOf(data.run);
    const wanted = data.found?.text ?? "";
    if (data.opened !== undefined && (memory.searched ?? "") !== wanted) {
      Object.assign(memory, { searched: wanted, finding: data.found?.rows ?? [] });
      shown.get(data.run)?.find();
    }
    memory.near = data.near;
    // Streamlit may repeat an earlier request; by then another sentence may be selected.
    if (data.requested !== null && answered.get(parentElement) !== data.requested) shown.get(data.run)?.highlight(data.requested);
    answered.set(parentElement, data.requested);
    return;
  }
  // In another language or in other colours the maps are built anew; what is remembered of them comes back.
  if (views.has(parentElement) && views.get(parentElement).made !== madeFor(data)) {
    views.get(parentElement).close();
    views.delete(parentElement);
  }
  if (!views.has(parentElement)) views.set(parentElement, createView(parentElement.querySelector(".maps"), data));
  const view = views.get(parentElement);
  view.show(setStateValue);
  return () => {
    view.close();
    views.delete(parentElement);
  };
}

// The language and the colours that maps are built for.
function madeFor(data) {
  return `${data.words.language} ${data.coloring}`;
}

function createView(root, data) {
  const memory = memoryOf(data.run);
  const { words } = data;
  // Of other colours, other groups were hidden.
  const isRecoloured = memory.coloring !== undefined && memory.coloring !== data.coloring;
  if (isRecoloured) memory.hidden = new Set();
  memory.coloring = data.coloring;
  const scenes = new Map();
  const sentenceByRow = new Map(data.rows.map((row, sentence) => [row, sentence]));
  const state = {
    tool: memory.tool ?? (data.dimensions === 3 || matchMedia("(pointer: coarse)").matches ? "move" : "box"),
    hidden: memory.hidden ?? new Set(), centroids: memory.centroids ?? true, alone: memory.alone ?? null, selected: new Uint8Array(data.rows.length),
    nSelected: 0, focus: -1, hovered: -1,
  };
  const shared = {
    data, state, classes: decoded(data.labels, Uint16Array), pointStyle: null, select, hover,
    sceneOf: (model) => scenes.get(model.name) ?? scenes.set(model.name, createScene(model, data.rows.length, data.dimensions)).get(model.name),
    // Those of a large map come with the request that highlights a sentence.
    nearOf: ({ name }, sentence) => (memory.near?.row === data.rows[sentence] ? (memory.near.by_model[name] ?? []) : [])
      .map((row) => sentenceByRow.get(row)).filter((other) => other !== undefined),
    remembered: (model) => memory.views.get(model), remember: (model, view) => memory.views.set(model, view),
  };
  const symbols = data.classes.map(({ symbol }) => symbol);
  const tip = element("div", "tip");
  tip.popover = "manual";
  const [bar, legend, grid] = [element("div", "bar"), element("div", "legend"), element("div", "grid")];
  const tools = element("div", "tools");
  const status = element("span", "status");
  status.setAttribute("role", "status");
  const clear = button(words.clear, words.clear_help, () => select([], false));
  const chips = data.classes.map((_, k) => chip(k));
  const centroids = button(words.centroids, words.centroids_help, () => {
    memory.centroids = state.centroids = !state.centroids;
    refresh();
    report("centroids", state.centroids);
  });
  const choice = modelChoice(data, words, (name) => {
    showAlone(name);
    report("alone", state.alone);
  });
  let texts = data.texts ?? [];
  if (data.packed_texts) unpacked(data.packed_texts).then((all) => (texts = all));
  let maps = [];
  let report = () => {};

  for (const [tool, label] of Object.entries({ move: data.dimensions === 3 ? words.turn : words.move, box: words.box, lasso: words.lasso })) {
    const toolButton = button(label, "", () => {
      memory.tool = state.tool = tool;
      refresh();
    });
    toolButton.dataset.tool = tool;
    tools.append(toolButton);
  }
  const saving = element("div", "saving");
  for (const format of ["svg", "png"]) {
    saving.append(button(format.toUpperCase(), filled(words.save_help, { format: format.toUpperCase() }), () => save(format, maps, shared)));
  }
  const parts = [bar, legend, grid, saving, tip];
  bar.append(tools, choice.row, status, clear, fullPage(root, () => parts, words));
  legend.append(...chips);
  centroids.className = "means";
  if (data.models.some((model) => model.centroids.length)) legend.append(centroids);
  root.replaceChildren(...parts);
  const observer = new ResizeObserver(() => maps.forEach((map) => map.resize()));
  // On scrolling, the sentence under the pointer moves away from its tip.
  const listening = new AbortController();
  document.addEventListener("scroll", () => hover(-1), { capture: true, passive: true, signal: listening.signal });

  function show(setStateValue) {
    report = setStateValue;
    shared.pointStyle = createPointStyle(root, symbols, data.rows.length, data.ramps);
    chips.forEach((chip, k) => chip.querySelector("path").setAttribute("fill", shared.pointStyle.color(k)));
    if (!maps.length) {
      arrangeMaps();
      observer.observe(grid);
      shown.set(data.run, { highlight, open, find });
      if (isRecoloured) reportHidden();
      if (memory.opening) open();
      else if (memory.rows.length) select(memory.rows.map((row) => sentenceByRow.get(row)), false);
      if (memory.finding) find();
    }
    refresh();
  }

  function arrangeMaps() {
    const isAlone = data.models.some(({ name }) => name === state.alone);
    maps = data.models.filter(({ name }) => !isAlone || name === state.alone).map((model) => createMap(model, shared));
    grid.classList.toggle("alone", maps.length === 1);
    grid.replaceChildren(...maps.map((map) => map.figure));
    maps.forEach((map) => map.resize());
  }

  // Shows the map of one model alone, or all for null; from one alone to the next the points move.
  function showAlone(name) {
    const before = state.alone;
    memory.alone = state.alone = name;
    const model = data.models.find((other) => other.name === name);
    if (before === name || !maps.length) return;
    if (before !== null && model) maps[0].become(model);
    else arrangeMaps();
    refresh();
  }

  // Selects what a search of the page has found.
  function find() {
    const rows = memory.finding;
    delete memory.finding;
    select(rows.map((row) => sentenceByRow.get(row)).filter((sentence) => sentence !== undefined), false);
  }

  function select(sentences, adds) {
    const before = state.nSelected;
    const value = adds && sentences.length === 1 ? 1 - state.selected[sentences[0]] : 1; // a click with Shift also deselects
    if (!adds) state.selected.fill(0);
    for (const sentence of sentences) state.selected[sentence] = value;
    const chosen = [];
    state.selected.forEach((isSelected, sentence) => isSelected && chosen.push(sentence));
    state.nSelected = chosen.length;
    state.focus = chosen.length === 1 ? chosen[0] : -1;
    memory.rows = chosen.map((sentence) => data.rows[sentence]);
    refresh();
    if (before || chosen.length) report("selection", memory.rows);
  }

  // Shows what the address of the page asks for.
  function open() {
    const { selected, hidden, centroids, alone } = memory.opening;
    delete memory.opening;
    memory.hidden = state.hidden = new Set([...data.classes.keys()].filter((k) => hidden.includes(data.classes[k].name)));
    memory.centroids = state.centroids = centroids;
    showAlone(alone ?? null);
    select(selected.map((row) => sentenceByRow.get(row)).filter((sentence) => sentence !== undefined), false);
  }

  function reportHidden() {
    report("hidden", [...state.hidden].sort((a, b) => a - b).map((k) => data.classes[k].name));
  }

  // Highlights a sentence chosen in a table: draws its ring and neighbours; if it is not selected, selects it.
  function highlight(row) {
    const sentence = sentenceByRow.get(row);
    if (sentence === undefined) return;
    if (!state.selected[sentence]) select([sentence], false);
    state.focus = sentence;
    refresh();
  }

  function hover(sentence, left, top) {
    if (sentence >= 0) placeTip(sentence, left, top);
    if (sentence === state.hovered) return;
    if (sentence < 0) tip.hidePopover?.();
    state.hovered = sentence;
    maps.forEach((map) => map.mark());
  }

  function placeTip(sentence, left, top) {
    const label = element("div", "label", data.classes[shared.classes[sentence]].name);
    label.append(element("span", "row", filled(words.row, { row: data.rows[sentence] })));
    tip.replaceChildren(element("div", "", texts[sentence] ?? ""), label);
    tip.showPopover?.();
    const above = top - tip.offsetHeight - 14;
    tip.style.top = `${above < 8 ? top + 16 : above}px`;
    tip.style.left = `${Math.max(8, Math.min(left + 10, window.innerWidth - tip.offsetWidth - 8))}px`;
  }

  function refresh() {
    for (const toolButton of tools.children) toolButton.setAttribute("aria-pressed", toolButton.dataset.tool === state.tool);
    chips.forEach((chip, k) => chip.setAttribute("aria-pressed", !state.hidden.has(k)));
    centroids.setAttribute("aria-pressed", state.centroids);
    choice.mark(state.alone);
    status.textContent = state.nSelected ? filled(words.selected, { n: state.nSelected.toLocaleString(words.language) }) : "";
    clear.hidden = !state.nSelected;
    maps.forEach((map) => map.draw());
  }

  function chip(k) {
    const { name, n, symbol } = data.classes[k];
    const classButton = button("", words.class_help, () => {
      state.hidden.has(k) ? state.hidden.delete(k) : state.hidden.add(k);
      memory.hidden = state.hidden;
      refresh();
      reportHidden();
    });
    classButton.ondblclick = () => {
      const alone = state.hidden.size === data.classes.length - 1 && !state.hidden.has(k);
      memory.hidden = state.hidden = new Set(alone ? [] : data.classes.keys());
      state.hidden.delete(k);
      refresh();
      reportHidden();
    };
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", "-1.5 -1.5 3 3");
    const shape = svg.appendChild(document.createElementNS(SVG, "path"));
    shape.setAttribute("d", SHAPES[symbol]);
    classButton.append(svg, element("span", "", name), element("span", "n", n.toLocaleString(words.language)));
    return classButton;
  }

  function close() {
    observer.disconnect();
    listening.abort();
    tip.hidePopover?.();
    if (shown.get(data.run)?.highlight === highlight) shown.delete(data.run);
  }

  return { show, close, made: madeFor(data) };
}

function button(text, title, act) {
  const created = element("button", "", text);
  created.type = "button";
  if (title) created.title = title;
  created.onclick = act;
  return created;
}
