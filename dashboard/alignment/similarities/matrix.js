// Similarities of all tokens on a canvas: names stay at the edges while the cells scroll and zoom. One cell is told at a
// time, the one that is pointed at, tapped, or reached by the arrow keys.

const CELLS = [4, 6, 9, 13, 18, 26, 36]; // pixels of a cell, by zoom
const NAMED = 13; // from this size on every token has its name at the edge
const NUMBERED = 36; // and from this one every cell its number
const EDGE = [92, 76]; // pixels of the names: beside the rows, above the columns
const TALLEST = 560;
const NAME_LETTERS = 9;
const views = new WeakMap();

export default function (component) {
  const { data, parentElement } = component;
  if (!views.has(parentElement)) views.set(parentElement, createMatrix(parentElement.querySelector(".matrix")));
  const view = views.get(parentElement);
  view.show(data);
  return () => {
    view.close();
    views.delete(parentElement);
  };
}

function createMatrix(root) {
  const [bar, frame, room, canvas] = [".bar", ".frame", ".room", "canvas"].map((name) => root.querySelector(name));
  const status = root.querySelector(".status");
  let data = null;
  let values = new Float32Array();
  let best = { candidate: new Map(), reference: new Map() };
  let zoom = null; // an index of CELLS; null until the user zooms
  let cursor = null; // [reference, candidate] of the cell that was chosen
  let hovered = null;
  const observer = new ResizeObserver(() => draw());
  observer.observe(frame);
  const buttons = ["zoom-out", "zoom-in", "whole"].map((name, place) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = ["−", "+", "⤢"][place];
    button.onclick = () => (name === "whole" ? zoomTo(null) : zoomTo(level() + (name === "zoom-in" ? 1 : -1)));
    return [name, button];
  });
  bar.prepend(...buttons.map(([, button]) => button));
  frame.addEventListener("scroll", () => draw());
  frame.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    zoomTo(level() + (event.deltaY < 0 ? 1 : -1));
  }, { passive: false });
  canvas.addEventListener("pointermove", (event) => event.pointerType === "mouse" && hover(cellAt(event)));
  canvas.addEventListener("pointerleave", () => hover(null));
  canvas.addEventListener("click", (event) => choose(cellAt(event)));
  frame.addEventListener("keydown", onKey);

  function show(next) {
    data = next;
    const bytes = Uint8Array.from(atob(data.values), (letter) => letter.charCodeAt(0));
    values = new Float32Array(bytes.buffer);
    best = Object.fromEntries(Object.entries(data.best).map(([side, matches]) => [side, new Map(matches)]));
    if (cursor && (cursor[0] >= n() || cursor[1] >= m())) cursor = null;
    for (const [name, button] of buttons) {
      button.title = data.texts[name];
      button.setAttribute("aria-label", data.texts[name]);
    }
    frame.setAttribute("aria-label", `${data.alt} ${data.texts.keys}`);
    draw();
    tell();
  }

  function n() { return data.reference.length; }
  function m() { return data.candidate.length; }

  // The zoom in use: by default the largest at which a row fits, but none whose tokens have no names.
  function level() {
    if (zoom !== null) return zoom;
    const fits = CELLS.findLastIndex((cell) => EDGE[0] + cell * n() <= frame.clientWidth);
    return Math.max(fits, CELLS.indexOf(NAMED));
  }

  function zoomTo(next) {
    const [cell, box] = [CELLS[level()], frame.getBoundingClientRect()];
    const middle = [(frame.scrollLeft + (box.width - EDGE[0]) / 2) / cell, (frame.scrollTop + (box.height - EDGE[1]) / 2) / cell];
    zoom = next === null ? Math.max(0, CELLS.findLastIndex((size) => EDGE[0] + size * n() <= box.width && EDGE[1] + size * m() <= TALLEST)) : Math.max(0, Math.min(CELLS.length - 1, next));
    draw();
    frame.scrollLeft = middle[0] * CELLS[zoom] - (box.width - EDGE[0]) / 2;
    frame.scrollTop = middle[1] * CELLS[zoom] - (box.height - EDGE[1]) / 2;
    draw();
  }

  function hover(cell) {
    if (String(cell) === String(hovered)) return;
    hovered = cell;
    draw();
    tell();
  }

  function choose(cell) {
    cursor = cell && String(cell) !== String(cursor) ? cell : null;
    draw();
    tell();
  }

  function tell() {
    const cell = hovered ?? cursor;
    status.textContent = !cell ? data.texts.hint : data.texts.cell.replace(/\{(\w+)\}/g, (_, name) => ({
      reference: data.reference[cell[0]], candidate: data.candidate[cell[1]], similarity: values[cell[0] * m() + cell[1]].toFixed(3),
    })[name]);
  }

  function cellAt(event) {
    const [box, cell] = [canvas.getBoundingClientRect(), CELLS[level()]];
    const [x, y] = [event.clientX - box.left - EDGE[0], event.clientY - box.top - EDGE[1]];
    const at = [Math.floor((x + frame.scrollLeft) / cell), Math.floor((y + frame.scrollTop) / cell)];
    return x < 0 || y < 0 || at[0] >= n() || at[1] >= m() ? null : at;
  }

  function onKey(event) {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    const jump = { Home: 0, End: n() - 1 }[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (step) cursor = cursor ? [clamped(cursor[0] + step[0], n()), clamped(cursor[1] + step[1], m())] : [0, 0];
    else if (jump !== undefined) cursor = [jump, cursor?.[1] ?? 0];
    else if (event.key === "Enter" || event.key === " ") cursor = matchOf(cursor ?? [0, 0]);
    else if (event.key === "Escape") cursor = null;
    else if (event.key === "+" || event.key === "-") zoomTo(level() + (event.key === "+" ? 1 : -1));
    else return;
    event.preventDefault();
    hovered = null;
    if (cursor) reveal(cursor);
    draw();
    tell();
  }

  // The best match of the candidate's token of a cell.
  function matchOf([reference, candidate]) {
    return [best.candidate.get(candidate) ?? reference, candidate];
  }

  function reveal(cell) {
    const size = CELLS[level()];
    cell.forEach((place, axis) => {
      const [name, length] = axis ? ["scrollTop", frame.clientHeight] : ["scrollLeft", frame.clientWidth];
      const [start, end] = [place * size, (place + 1) * size - (length - EDGE[axis])];
      if (frame[name] > start) frame[name] = start;
      if (frame[name] < end) frame[name] = end;
    });
  }

  function draw() {
    if (!data || !frame.clientWidth) return;
    const cell = CELLS[level()];
    Object.assign(room.style, { width: `${EDGE[0] + cell * n()}px`, height: `${EDGE[1] + cell * m()}px` });
    frame.style.height = `${Math.min(TALLEST, EDGE[1] + cell * m() + 18)}px`;
    const [width, height] = [Math.min(frame.clientWidth, EDGE[0] + cell * n()), Math.min(frame.clientHeight, EDGE[1] + cell * m())];
    const ratio = Math.min(devicePixelRatio || 1, 2);
    Object.assign(canvas, { width: width * ratio, height: height * ratio });
    Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const style = getComputedStyle(root);
    const colors = Object.fromEntries(["ink", "mute", "ground", "accent", "warm"].map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
    context.font = `${Math.min(13, cell - 1)}px ${style.fontFamily}`;
    const [left, top] = [frame.scrollLeft, frame.scrollTop];
    const ranges = [[left, width - EDGE[0], n()], [top, height - EDGE[1], m()]].map(([start, length, most]) => [Math.floor(start / cell), Math.min(most, Math.ceil((start + length) / cell))]);
    context.save();
    context.beginPath();
    context.rect(...EDGE, width - EDGE[0], height - EDGE[1]);
    context.clip();
    const gap = cell >= NAMED ? 1 : 0;
    const at = (i, j) => [EDGE[0] + i * cell - left, EDGE[1] + j * cell - top];
    for (let i = ranges[0][0]; i < ranges[0][1]; i += 1) {
      for (let j = ranges[1][0]; j < ranges[1][1]; j += 1) {
        const value = values[i * m() + j];
        context.globalAlpha = Math.max(0, Math.min(1, (value - data.ground) / (1 - data.ground))) * 0.55;
        context.fillStyle = colors.accent;
        context.fillRect(...at(i, j), cell - gap, cell - gap);
        context.globalAlpha = 1;
        if (cell >= NUMBERED) {
          context.fillStyle = colors.ink;
          context.textAlign = "center";
          context.fillText(value.toFixed(2), at(i, j)[0] + cell / 2, at(i, j)[1] + cell / 2 + 4);
        }
        outline(context, [i, j], at(i, j), cell, colors);
      }
    }
    context.restore();
    names(context, ranges, cell, [left, top], colors);
  }

  function outline(context, [i, j], [x, y], cell, colors) {
    context.strokeStyle = colors.accent;
    context.lineWidth = cell > NAMED ? 1.6 : 1;
    if (best.candidate.get(j) === i) context.strokeRect(x + 1, y + 1, cell - 3, cell - 3);
    if (best.reference.get(i) === j) {
      context.setLineDash([2, 2]);
      context.strokeRect(x + 3, y + 3, Math.max(1, cell - 7), Math.max(1, cell - 7));
      context.setLineDash([]);
    }
    const marked = [cursor, hovered].some((other) => other && other[0] === i && other[1] === j);
    if (!marked) return;
    context.strokeStyle = colors.ink;
    context.lineWidth = 2;
    context.strokeRect(x, y, cell - 1, cell - 1);
  }

  // The names at the edges; where cells are too small for all, those of the marked cell.
  function names(context, ranges, cell, offset, colors) {
    const marked = hovered ?? cursor;
    [data.reference, data.candidate].forEach((tokens, axis) => {
      for (let place = ranges[axis][0]; place < ranges[axis][1]; place += 1) {
        const isMarked = marked?.[axis] === place;
        if (cell < NAMED && !isMarked) continue;
        const middle = EDGE[axis] + (place + 0.5) * cell - offset[axis];
        if (middle < EDGE[axis]) continue;
        const name = tokens[place].length > NAME_LETTERS ? `${tokens[place].slice(0, NAME_LETTERS - 1)}…` : tokens[place];
        context.save();
        context.font = `${isMarked ? "600 " : ""}${Math.min(13, Math.max(11, cell - 2))}px ${getComputedStyle(root).fontFamily}`;
        context.fillStyle = isMarked ? colors.accent : data.unknown[axis].includes(place) ? colors.warm : colors.ink;
        if (axis) context.translate(EDGE[0] - 6, middle + 4);
        else context.translate(middle + 4, EDGE[1] - 6);
        if (!axis) context.rotate(-Math.PI / 2);
        context.textAlign = axis ? "right" : "left";
        context.fillText(name, 0, 0, (axis ? EDGE[0] : EDGE[1]) - 8);
        context.restore();
      }
    });
  }

  function close() {
    observer.disconnect();
  }

  return { show, close };
}

function clamped(place, most) {
  return Math.max(0, Math.min(most - 1, place));
}
