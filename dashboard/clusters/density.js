// Many points as a density: each cell has the mean colour of the points there, and is the more opaque the more they are.
// Single points would hide each other, the last class drawn all others; hundreds of thousands are drawn in hundredths of
// a second this way, without a graphics card.

const DENSE_POINTS = 25_000; // in view, beyond which they are drawn as a density
const LEAST_OPACITY = 0.35; // of a cell with a single point beside it
const sums = new Map(); // size -> two buffers, which every drawing of that size fills anew

// The points in view in the order of their drawing, those of `top` over the others: indices each. `shows` says of each
// class whether it is shown; `reach`: pixels by which a point beyond the edge is still seen.
function layersInView(scene, classes, selected, shows, width, height, reach) {
  const { sentences, order, n, screen: { x, y } } = scene;
  const layers = [new Uint32Array(n), new Uint32Array(n)];
  const ends = [0, 0];
  for (let at = 0; at < n; at++) {
    const i = order[at];
    if (!(x[i] > -reach && x[i] < width + reach && y[i] > -reach && y[i] < height + reach) || !shows[classes[sentences[i]]]) continue;
    const layer = selected === null || selected[sentences[i]] ? 1 : 0;
    layers[layer][ends[layer]++] = i;
  }
  return { rest: layers[0].subarray(0, ends[0]), top: layers[1].subarray(0, ends[1]) };
}

// Red, green, blue and opacity of width x height cells, a pixel each; `colors` are [red, green, blue] of each class.
function densityOf(scene, layer, classes, colors, width, height) {
  const wide = width + 2; // a cell around all, so that nothing is blurred from one edge to the other
  const size = 4 * wide * (height + 2);
  const [held, blurred] = sums.get(size) ?? sums.set(size, [new Float32Array(size), new Float32Array(size)]).get(size);
  held.fill(0);
  const { sentences, screen: { x, y } } = scene;
  for (let at = 0; at < layer.length; at++) {
    const i = layer[at];
    const [column, row] = [Math.floor(x[i]), Math.floor(y[i])];
    if (column < 0 || row < 0 || column >= width || row >= height) continue;
    const cell = 4 * ((row + 1) * wide + column + 1);
    const color = colors[classes[sentences[i]]];
    held[cell] += color[0];
    held[cell + 1] += color[1];
    held[cell + 2] += color[2];
    held[cell + 3]++;
  }
  // Each point reaches into the cells around its own, by 1 2 1 in either direction.
  for (let i = 4; i < size - 4; i++) blurred[i] = (held[i - 4] + 2 * held[i] + held[i + 4]) / 4;
  const line = 4 * wide;
  for (let i = line; i < size - line; i++) held[i] = (blurred[i - line] + 2 * blurred[i] + blurred[i + line]) / 4;
  const picture = new Uint8ClampedArray(4 * width * height);
  let most = 1;
  for (let i = line + 3; i < size - line; i += 4) if (held[i] > most) most = held[i];
  const scale = (1 - LEAST_OPACITY) / Math.log1p(most);
  for (let row = 0, to = 0; row < height; row++) {
    for (let from = line * (row + 1) + 4, end = from + 4 * width; from < end; from += 4, to += 4) {
      const n = held[from + 3];
      if (n === 0) continue;
      picture[to] = held[from] / n;
      picture[to + 1] = held[from + 1] / n;
      picture[to + 2] = held[from + 2] / n;
      picture[to + 3] = 255 * Math.min(1, 4 * n) * (LEAST_OPACITY + scale * Math.log1p(n));
    }
  }
  return picture;
}

// Draws a layer over a map, on a canvas of that size in cells.
function drawDensity(context, picture, width, height, opacity) {
  const sheet = document.createElement("canvas");
  Object.assign(sheet, { width, height });
  sheet.getContext("2d").putImageData(new ImageData(picture, width, height), 0, 0);
  context.globalAlpha = opacity;
  context.drawImage(sheet, 0, 0, width, height);
  context.globalAlpha = 1;
}

// Red, green and blue of #rrggbb or rgb(…).
function channels(color) {
  const digits = /^#(..)(..)(..)/.exec(color.trim())?.slice(1).map((part) => parseInt(part, 16));
  return digits ?? (color.match(/[\d.]+/g) ?? [127, 127, 127]).slice(0, 3).map(Number);
}
