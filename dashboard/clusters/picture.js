// The maps as a picture, SVG or PNG: on white in any theme, with the present zoom, hidden classes and selection.

const SVG = "http://www.w3.org/2000/svg";
const PAPER = { ground: "#ffffff", ink: "#1f2430", mute: "#667085", frame: "#e4e7ec" };
const CELL = [480, 400];
const GAP = 24;
const PNG_SCALE = 2;
const SIGNATURE_LETTERS = 110; // in a line of one map's width

async function save(format, maps, shared) {
  const svg = pictureOf(maps, shared);
  let blob = new Blob([new XMLSerializer().serializeToString(svg)], { type: "image/svg+xml" });
  if (format === "png") blob = await rasterised(blob, Number(svg.getAttribute("width")), Number(svg.getAttribute("height")));
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = `${shared.data.picture.name}.${format}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

function pictureOf(maps, shared) {
  const { data, state } = shared;
  const columns = Math.min(maps.length, 3);
  const width = columns * (CELL[0] + GAP) + GAP;
  const svg = node("svg", { width, "font-family": "Noto Sans CJK JP, Noto Sans JP, Hiragino Sans, sans-serif" });
  node("metadata", {}, svg).textContent = data.picture.signature;
  node("rect", { width: "100%", height: "100%", fill: PAPER.ground }, svg);
  const shapes = node("defs", {}, svg);
  data.classes.forEach(({ symbol }, k) => node("path", { id: `c${k}`, d: SHAPES[symbol] }, shapes));
  let top = legendOf(svg, data, state, width, GAP);
  maps.forEach((map, i) => {
    const [left, y] = [GAP + (i % columns) * (CELL[0] + GAP), top + Math.floor(i / columns) * (CELL[1] + GAP + 20)];
    text(svg, left, y + 14, map.title, { "font-size": 14, "font-weight": 600 });
    const cell = node("svg", { x: left, y: y + 24, width: CELL[0], height: CELL[1] }, svg);
    node("rect", { width: CELL[0], height: CELL[1], fill: "none", stroke: PAPER.frame }, cell);
    drawMap(cell, map, shared);
  });
  top += Math.ceil(maps.length / columns) * (CELL[1] + GAP + 20) + 10;
  const letters = SIGNATURE_LETTERS * columns;
  for (let start = 0; start < data.picture.signature.length; start += letters, top += 13) {
    text(svg, GAP, top, data.picture.signature.slice(start, start + letters), { "font-size": 9, fill: PAPER.mute });
  }
  svg.setAttribute("height", top + GAP / 2);
  return svg;
}

function legendOf(svg, data, state, width, top) {
  let [x, y] = [GAP, top];
  data.classes.forEach(({ name }, k) => {
    if (state.hidden.has(k)) return;
    const label = text(svg, 0, 0, name, { "font-size": 12 });
    const length = 26 + [...name].reduce((sum, letter) => sum + (letter.codePointAt(0) > 0x2e7f ? 12 : 7), 0);
    if (x + length > width - GAP && x > GAP) [x, y] = [GAP, y + 20];
    use(svg, k, x + 6, y, 5, data.picture.palette);
    set(label, { x: x + 16, y: y + 4 });
    x += length + 8;
  });
  return y + 22;
}

function drawMap(cell, map, shared) {
  const { data, state, classes } = shared;
  const { scene } = map;
  const [width] = map.size();
  const scale = CELL[0] / Math.max(width, 1);
  const view = { ...map.view(), x: map.view().x * scale, y: map.view().y * scale };
  const to = projector(scene, view, ...CELL);
  const radius = shared.pointStyle.radius;
  const layers = scene.n > DENSE_POINTS ? drawnLayers(cell, map, shared, view) : null;
  for (const isTop of state.nSelected ? [false, true] : [true]) {
    for (const i of layers ? layers[isTop ? "top" : "rest"] : scene.order) {
      const sentence = scene.sentences[i];
      if (!layers && (!map.isVisible(i) || (state.nSelected && (state.selected[sentence] === 1) !== isTop))) continue;
      const [x, y] = to(...scene.axes.map((values) => values[i]));
      const drawn = use(cell, classes[sentence], x, y, radius, data.picture.palette);
      if (radius >= 3) set(drawn, { stroke: PAPER.ground, "stroke-width": 0.15 });
      if (!isTop) set(drawn, { fill: PAPER.mute, opacity: FADED });
    }
  }
  if (!state.centroids) return;
  const drawn = scene.centroids.filter(({ k }) => !state.hidden.has(k)).map(({ k, at }) => ({ k, at: to(...at).slice(0, 2) }));
  for (const { k, at } of drawn) {
    set(use(cell, k, ...at, CENTROID_RADIUS, data.picture.palette), { stroke: PAPER.ink, "stroke-width": 0.2 });
  }
  const names = drawn.map(({ k }) => labelOf(data.classes[k].name));
  labelPlaces(drawn.map(({ at }) => at), names.map(roughWidth), ...CELL).forEach((place, i) => {
    if (!place) return;
    const halo = { "font-size": LABEL_SIZE, "font-weight": 600, "paint-order": "stroke", stroke: PAPER.ground, "stroke-width": 3 };
    text(cell, ...place, names[i], halo);
  });
}

// Draws of a large map what is a density as an image; returns the layers of points that are left.
function drawnLayers(cell, map, shared, view) {
  const { data, state, classes, pointStyle } = shared;
  const own = { ...map.scene, order: map.scene.order.slice(), screen: Object.fromEntries(["x", "y", "size"].map((name) => [name, new Float32Array(map.scene.n)])) };
  arrange(own, view, ...CELL);
  const shows = data.classes.map((_, k) => !state.hidden.has(k));
  const layers = layersInView(own, classes, state.nSelected ? state.selected : null, shows, ...CELL, 2 * pointStyle.radius);
  for (const axis of ["x", "y"]) for (let i = 0; i < own.n; i++) own.screen[axis][i] *= PNG_SCALE;
  const [width, height] = CELL.map((side) => side * PNG_SCALE);
  for (const name of ["rest", "top"]) {
    if (layers[name].length <= DENSE_POINTS) continue;
    const colors = shows.map((_, k) => channels(name === "rest" ? PAPER.mute : data.picture.palette[k % data.picture.palette.length]));
    const canvas = document.createElement("canvas");
    Object.assign(canvas, { width, height });
    drawDensity(canvas.getContext("2d"), densityOf(own, layers[name], classes, colors, width, height), width, height, name === "rest" ? FADED : 1);
    node("image", { href: canvas.toDataURL("image/png"), width: CELL[0], height: CELL[1] }, cell);
    layers[name] = [];
  }
  return layers;
}

function use(parent, k, x, y, radius, palette) {
  const transform = `translate(${x.toFixed(1)} ${y.toFixed(1)}) scale(${radius})`;
  return node("use", { href: `#c${k}`, transform, fill: palette[k % palette.length] }, parent);
}

function text(parent, x, y, content, attributes) {
  const label = node("text", { x, y, fill: PAPER.ink, ...attributes }, parent);
  label.textContent = content;
  return label;
}

function node(tag, attributes, parent) {
  const created = document.createElementNS(SVG, tag);
  set(created, attributes);
  parent?.append(created);
  return created;
}

function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
}

async function rasterised(blob, width, height) {
  const image = new Image();
  image.src = URL.createObjectURL(blob);
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width * PNG_SCALE, height * PNG_SCALE];
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(image.src);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}
