// Draws the data of view_data: chips, links, and an explanation of the token that is hovered, tapped or focused.
// Streamlit calls the default export again whenever the data or the theme changes, and its return value at the end.

const SIDES = ["reference", "candidate"];
const DEEPEST_SHADE = 42; // percent of the accent in the chip of a similarity of 1
const GAP = 8;
const ALL_LINKS = 3; // with more segments, links are drawn for the chosen token alone
const views = new WeakMap();

export default function (component) {
  const { data, parentElement } = component;
  if (!views.has(parentElement)) views.set(parentElement, createView(parentElement.querySelector(".alignment")));
  const view = views.get(parentElement);
  view.show(data, component.setTriggerValue);
  return () => {
    view.close();
    views.delete(parentElement);
  };
}

function createView(root) {
  const [lines, svg, tip, legend, matches] = [".lines", ".links", ".tip", ".legend", ".matches"].map((name) => root.querySelector(name));
  let data = null;
  let chips = { reference: [], candidate: [] };
  let links = [];
  let cuts = []; // the segments as they are drawn
  let room = 0; // the width that they were cut for
  let explained = null; // the token that is explained: {side, index}
  let pinned = false; // the explanation stays when the pointer leaves
  let report = null; // tells the page of the token that is chosen

  const observer = new ResizeObserver(() => {
    cut();
    placeTip();
  });
  observer.observe(root);
  document.fonts?.ready.then(() => cut(true));
  const listening = new AbortController();
  const on = (target, type, act, options = {}) => target.addEventListener(type, act, { signal: listening.signal, ...options });
  on(document, "scroll", placeTip, { capture: true });
  on(document, "pointerdown", leave);
  on(root, "pointerover", (event) => event.pointerType === "mouse" && !pinned && explain(find(event)));
  on(root, "pointerout", (event) => event.pointerType === "mouse" && !pinned && explain(null));
  on(root, "click", (event) => {
    const token = find(event);
    // A second press on the chosen token releases it, by mouse, touch, Enter and Space alike.
    const isReleased = pinned && token && explained?.side === token.side && explained.index === token.index;
    pinned = token !== null && !isReleased;
    explain(isReleased ? null : token);
    showMatch();
    if (pinned && data.asks) report("chosen", token);
  });
  on(root, "focusin", (event) => {
    if (!event.target.matches(".token:focus-visible")) return;
    explain(find(event));
    showMatch();
  });
  on(root, "focusout", () => !pinned && explain(null));
  on(root, "keydown", onKey);

  function show(next, setTriggerValue) {
    report = setTriggerValue;
    if (JSON.stringify(next) === JSON.stringify(data)) return; // what is in focus stays so
    const previous = explained;
    data = next;
    for (const side of SIDES) chips[side] = data[side].map((token, index) => chip(token, side, index));
    links = linksOf(data);
    cut(true);
    drawMatches();
    explain(previous && chips[previous.side][previous.index] ? previous : null);
  }

  // Cuts the sentences into segments for the present width, where that or the tokens have changed.
  function cut(isChanged = false) {
    if (!data || !(isChanged || lines.clientWidth !== room)) return drawLinks();
    arrange([[[0, chips.reference.length], [0, chips.candidate.length]]]);
    room = lines.clientWidth;
    if (!room) return;
    const gap = parseFloat(getComputedStyle(lines.querySelector(".row")).columnGap) || 0;
    const measured = () => SIDES.map((side) => chips[side].map((element) => element.getBoundingClientRect().width + gap));
    if (measured().some((widths) => widths.reduce((sum, width) => sum + width, 0) > room + gap)) {
      for (const side of SIDES) for (const element of chips[side]) element.classList.add("later"); // room for its arrow
      const inside = SIDES.map((side) => data[side].map((token) => token.inside));
      arrange(segmentsOf(measured(), links.map((link) => [link.reference, link.candidate]), room + gap, inside));
    }
    drawLegend();
    drawLinks();
  }

  // Puts the chips into segments, the reference above the candidate in each.
  function arrange(wanted) {
    const focused = root.getRootNode().activeElement;
    cuts = wanted;
    lines.replaceChildren(
      ...cuts.map((ends, number) => {
        const segment = part("segment", "", "div");
        SIDES.forEach((side, position) => {
          const row = part(`row ${side}`, "", "div");
          row.setAttribute("role", "group");
          row.setAttribute("aria-label", say(data, `tokens-of-the-${side}`));
          row.append(...chips[side].slice(...ends[position]));
          const label = number ? [] : [part("label", say(data, side), "div")];
          segment.append(...(side === "reference" ? [...label, row] : [row, ...label]));
        });
        return segment;
      }),
    );
    root.classList.toggle("segmented", cuts.length > 1);
    root.classList.toggle("on-demand", cuts.length > ALL_LINKS);
    for (const side of SIDES) {
      chips[side].forEach((element, index) => {
        const jump = jumpOf(side, index);
        element.classList.toggle("later", jump > 0);
        element.classList.toggle("earlier", jump < 0);
      });
    }
    if (focused && root.contains(focused)) focused.focus({ preventScroll: true });
  }

  // How many segments the best match of a token is further on; 0 within its own.
  function jumpOf(side, index) {
    const token = data[side][index];
    if (token.special || token.match_special || token.match < 0) return 0;
    const segment = (of, place) => cuts.findIndex((ends) => place < ends[SIDES.indexOf(of)][1]);
    return segment(otherSide(side), token.match) - segment(side, index);
  }

  function drawLegend() {
    const jumps = SIDES.some((side) => chips[side].some((_, index) => jumpOf(side, index)));
    legend.replaceChildren(...legendOf(data, cuts.length > ALL_LINKS, jumps).map(([text, name]) => part(name ?? "", text, "span")));
  }

  // The matches as a list, which takes the place of the heat map on a phone.
  function drawMatches() {
    const row = (cells, tag) => {
      const element = document.createElement("tr");
      element.append(...cells.map((text) => part("", text, tag)));
      for (const cell of element.querySelectorAll("th")) cell.scope = "col";
      return element;
    };
    const head = row(["reference", "candidate", "similarity-head", "of"].map((name) => say(data, name)), "th");
    matches.querySelector("summary").textContent = say(data, "matches");
    matches.querySelector("table").replaceChildren(head, ...matchRows(data, links).map((cells) => row(cells, "td")));
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
    if (!token.special) element.style.setProperty("--shade", `${shade(data, token) * DEEPEST_SHADE}%`);
    const showsM = token.counted && data.penalised;
    const number = token.special || token.similarity === null ? "" : showsM ? `M ${fixed(data, token.agreement)}` : fixed(data, token.similarity);
    // The reading is above the token, as ruby; a row without readings has no space for them.
    if (data[side].some((other) => other.ruby)) element.append(part("ruby", token.ruby));
    element.append(part("text", token.text), part("number", token.unknown ? `? ${number}` : number));
    // The name is what is seen; the explanation is told after it.
    element.setAttribute("aria-description", explanation(data, side, index).map(([text]) => text).join(". "));
    return element;
  }

  function drawLinks() {
    if (!data) return;
    const box = root.getBoundingClientRect();
    if (!box.width) return;
    const rects = Object.fromEntries(SIDES.map((side) => [side, chips[side].map((element) => element.getBoundingClientRect())]));
    svg.setAttribute("viewBox", `0 0 ${box.width} ${box.height}`);
    svg.replaceChildren(
      ...links.map((link) => {
        link.path = linkPath(data, link, rects.reference[link.reference], rects.candidate[link.candidate], box);
        return link.path;
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
        element.setAttribute("aria-pressed", pinned && isExplained);
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

  // Scrolls until the best match of the explained token is in view.
  function showMatch() {
    const match = explained && chips[otherSide(explained.side)][data[explained.side][explained.index].match];
    if (!match || isInView(match)) return;
    const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    match.scrollIntoView({ block: "nearest", behavior: isCalm ? "auto" : "smooth" });
  }

  // Above a token of the reference and below one of the candidate, so that it hides no link; the other way at an edge.
  // Beside the match where the token itself is out of view.
  function placeTip() {
    if (!explained || !tip.matches(":popover-open")) return;
    const own = chips[explained.side][explained.index];
    const match = chips[otherSide(explained.side)][data[explained.side][explained.index].match];
    const rect = (isInView(own) || !match ? own : match).getBoundingClientRect();
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
    const step = { ArrowLeft: index - 1, ArrowRight: index + 1, Home: 0, End: chips[side].length - 1 }[event.key];
    let next = step === undefined ? null : chips[side][step];
    const towards = side === "reference" ? "ArrowDown" : "ArrowUp";
    if (event.key === towards && data[side][index].match >= 0) next = chips[otherSide(side)][data[side][index].match];
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
