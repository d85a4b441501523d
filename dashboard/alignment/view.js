// Draws the data of view_data: chips, links, and an explanation of the token that is hovered, tapped or focused.
// Streamlit calls the default export again whenever the data or the theme changes, and its return value at the end.

const SVG = "http://www.w3.org/2000/svg";
const SIDES = ["reference", "candidate"];
const DEEPEST_SHADE = 42; // percent of the accent in the chip of a similarity of 1
const GAP = 8;
const views = new WeakMap();

export default function (component) {
  const { data, parentElement } = component;
  if (!views.has(parentElement)) views.set(parentElement, createView(parentElement.querySelector(".alignment")));
  const view = views.get(parentElement);
  view.show(data);
  return () => {
    view.close();
    views.delete(parentElement);
  };
}

function createView(root) {
  const rows = Object.fromEntries(SIDES.map((side) => [side, root.querySelector(`.row.${side}`)]));
  const [svg, tip, legend] = [".links", ".tip", ".legend"].map((name) => root.querySelector(name));
  let data = null;
  let chips = { reference: [], candidate: [] };
  let links = [];
  let explained = null; // the token that is explained: {side, index}
  let pinned = false; // the explanation stays when the pointer leaves

  const observer = new ResizeObserver(() => {
    drawLinks();
    placeTip();
  });
  observer.observe(root);
  document.fonts?.ready.then(drawLinks);
  const listening = new AbortController();
  const on = (target, type, act, options = {}) => target.addEventListener(type, act, { signal: listening.signal, ...options });
  on(document, "scroll", placeTip, { capture: true });
  on(document, "pointerdown", leave);
  on(root, "pointerover", (event) => event.pointerType === "mouse" && !pinned && explain(find(event)));
  on(root, "pointerout", (event) => event.pointerType === "mouse" && !pinned && explain(null));
  on(root, "click", (event) => {
    const token = find(event);
    pinned = token !== null;
    explain(token);
  });
  on(root, "focusin", (event) => event.target.matches(":focus-visible") && explain(find(event)));
  on(root, "focusout", () => !pinned && explain(null));
  on(root, "keydown", onKey);

  function show(next) {
    const previous = explained;
    data = next;
    for (const side of SIDES) {
      chips[side] = data[side].map((token, index) => chip(token, side, index));
      rows[side].replaceChildren(...chips[side]);
    }
    links = linksOf(data);
    legend.replaceChildren(...legendOf(data).map(([text, name]) => part(name ?? "", text, "span")));
    drawLinks();
    explain(previous && chips[previous.side][previous.index] ? previous : null);
  }

  function chip(token, side, index) {
    const element = document.createElement("button");
    element.type = "button";
    element.className = "token";
    element.dataset.side = side;
    element.dataset.index = index;
    // One Tab stop for each sentence; the arrow keys move within it.
    element.tabIndex = index === 0 ? 0 : -1;
    element.classList.toggle("special", token.special);
    element.classList.toggle("low", token.low);
    element.classList.toggle("name", token.name && data.names);
    element.classList.toggle("unknown", token.unknown);
    element.classList.toggle("costs", costs(data, token));
    element.classList.toggle("to-special", token.match_special && !token.special);
    if (!token.special) element.style.setProperty("--shade", `${shade(token) * DEEPEST_SHADE}%`);
    const showsM = token.counted && data.penalised;
    const number = token.special || token.similarity === null ? "" : showsM ? `M ${fixed(token.agreement)}` : fixed(token.similarity);
    // The reading is above the token, as ruby; a row without readings has no space for them.
    if (data[side].some((other) => other.ruby)) element.append(part("ruby", token.ruby));
    element.append(part("text", token.text), part("number", number));
    element.setAttribute("aria-label", explanation(data, side, index).map(([text]) => text).join(". "));
    return element;
  }

  function shade(token) {
    return Math.max(0, Math.min(1, ((token.similarity ?? 0) - data.ground) / (1 - data.ground)));
  }

  // The best matches of both sides; two tokens that are each other's best match have one link.
  function linksOf() {
    const byKey = new Map();
    for (const side of SIDES) {
      data[side].forEach((token, index) => {
        if (token.special || token.match < 0) return;
        const [reference, candidate] = side === "reference" ? [index, token.match] : [token.match, index];
        const key = `${reference} ${candidate}`;
        const link = byKey.get(key) ?? { reference, candidate, from: [], token, warm: false };
        link.from.push(side);
        link.special = token.match_special;
        link.warm ||= costs(data, token);
        byKey.set(key, link);
      });
    }
    return [...byKey.values()];
  }

  function drawLinks() {
    if (!data) return;
    const box = root.getBoundingClientRect();
    if (!box.width) return;
    const rects = Object.fromEntries(SIDES.map((side) => [side, chips[side].map((element) => element.getBoundingClientRect())]));
    const inLines = (side) => new Set(rects[side].filter((_, i) => !data[side][i].special).map((rect) => Math.round(rect.top))).size;
    root.classList.toggle("wrapped", Math.max(...SIDES.map(inLines)) > 1);
    svg.setAttribute("viewBox", `0 0 ${box.width} ${box.height}`);
    svg.replaceChildren(
      ...links.map((link) => {
        const above = rects.reference[link.reference];
        const below = rects.candidate[link.candidate];
        const [x1, y1] = [above.x + above.width / 2 - box.x, above.bottom - box.y + 2];
        const [x2, y2] = [below.x + below.width / 2 - box.x, below.top - box.y - 2];
        const middle = (y1 + y2) / 2;
        const path = document.createElementNS(SVG, "path");
        path.setAttribute("d", `M${x1},${y1}C${x1},${middle} ${x2},${middle} ${x2},${y2}`);
        const mutual = link.from.length === 2;
        const depth = shade(link.token);
        path.style.setProperty("--weight", `${(mutual ? 1.3 : 0.9) + depth}px`);
        path.style.setProperty("--strength", `${(mutual ? 0.3 : 0.16) + 0.45 * depth}`);
        path.classList.toggle("special", link.special);
        path.classList.toggle("warm", link.warm);
        link.path = path;
        return path;
      }),
    );
    mark();
  }

  function explain(token) {
    explained = token;
    mark();
    if (!token) {
      tip.hidePopover?.();
      return;
    }
    tip.replaceChildren(
      ...explanation(data, token.side, token.index).map(([text, name]) => {
        const line = document.createElement("div");
        line.className = name ?? "";
        line.textContent = text;
        return line;
      }),
    );
    tip.showPopover?.();
    placeTip();
  }

  function mark() {
    root.classList.toggle("explaining", explained !== null && !data[explained.side][explained.index].special);
    const partner = explained && data[explained.side][explained.index].match;
    for (const side of SIDES) {
      chips[side].forEach((element, index) => {
        const isExplained = explained?.side === side && explained.index === index;
        const isMatch = explained !== null && explained.side !== side && partner === index && !data[explained.side][explained.index].special;
        const choosesIt = explained !== null && explained.side !== side && !data[side][index].special && data[side][index].match === explained.index;
        element.classList.toggle("on", isExplained || isMatch);
        element.classList.toggle("back", choosesIt && !isMatch);
      });
    }
    for (const link of links) {
      if (!link.path) continue;
      const touches = explained !== null && link[explained.side] === explained.index;
      link.path.classList.toggle("on", touches && link.from.includes(explained.side));
      link.path.classList.toggle("back", touches && !link.from.includes(explained.side));
    }
  }

  // Above a token of the reference and below one of the candidate, so that it hides no link; the other way at an edge.
  function placeTip() {
    if (!explained || !tip.matches(":popover-open")) return;
    const rect = chips[explained.side][explained.index].getBoundingClientRect();
    const [width, height] = [tip.offsetWidth, tip.offsetHeight];
    const [above, below] = [rect.top - height - GAP, rect.bottom + GAP];
    const wanted = explained.side === "reference" ? above : below;
    const top = wanted < GAP ? below : wanted + height > window.innerHeight - GAP ? above : wanted;
    const left = Math.max(GAP, Math.min(rect.x + rect.width / 2 - width / 2, window.innerWidth - width - GAP));
    tip.style.top = `${top}px`;
    tip.style.left = `${left}px`;
  }

  function onKey(event) {
    const token = find(event);
    if (!token) return;
    const { side, index } = token;
    const other = side === "reference" ? "candidate" : "reference";
    const step = { ArrowLeft: index - 1, ArrowRight: index + 1, Home: 0, End: chips[side].length - 1 }[event.key];
    let next = step === undefined ? null : chips[side][step];
    const towards = side === "reference" ? "ArrowDown" : "ArrowUp";
    if (event.key === towards && data[side][index].match >= 0) next = chips[other][data[side][index].match];
    if (event.key === "Escape") {
      pinned = false;
      explain(null);
    } else if (next) {
      event.preventDefault();
      pinned = false;
      for (const element of chips[next.dataset.side]) element.tabIndex = element === next ? 0 : -1;
      next.focus();
    }
  }

  function leave(event) {
    if (explained && !event.composedPath().includes(root)) {
      pinned = false;
      explain(null);
    }
  }

  function close() {
    observer.disconnect();
    listening.abort();
  }

  return { show, close };
}

function find(event) {
  const element = event.target.closest?.(".token");
  return element ? { side: element.dataset.side, index: Number(element.dataset.index) } : null;
}

function part(name, text, tag = "span") {
  const element = document.createElement(tag);
  if (name) element.className = name;
  element.textContent = text;
  return element;
}
