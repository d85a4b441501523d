// Screen positions of the points of a map, and which of them are at a pointer or in a box or lasso. No drawing.

const MARGIN = 18; // pixels between the outermost point and the edge
const LEAST_ZOOM = 1;
const MOST_ZOOM = 80;
const PERSPECTIVE = 0.28; // how much larger near points of a 3-D map appear, as a share
const SLICES = 256; // buckets of the sort by depth
const FIRST_VIEW = { zoom: 1, x: 0, y: 0, yaw: 0.6, pitch: 0.35 };

// A model's coordinates and their middle; `places` is the index of each sentence among them, -1 where it was left out.
function createScene(model, nSentences, dimensions) {
  const axes = [model.x, model.y, model.z].slice(0, dimensions).map((values) => decoded(values, Float32Array));
  const sentences = decoded(model.sentences, Uint32Array);
  const n = sentences.length;
  const places = new Int32Array(nSentences).fill(-1);
  sentences.forEach((sentence, place) => (places[sentence] = place));
  const middles = axes.map((values) => {
    const [least, most] = extent(values);
    return { middle: (least + most) / 2, half: Math.max((most - least) / 2, 1e-9) };
  });
  let reach = 1e-9; // radius of a sphere around all points, so that every rotation is visible; in 2-D each axis has its own half
  for (let i = 0; i < n; i++) reach = Math.max(reach, Math.hypot(...axes.map((values, a) => values[i] - middles[a].middle)));
  return {
    n, axes, sentences, places, middles, reach, dimensions,
    centroids: model.centroids,
    neighbours: decoded(model.neighbours, Uint32Array),
    nNeighbours: model.n_neighbours,
    screen: { x: new Float32Array(n), y: new Float32Array(n), size: new Float32Array(n).fill(1) },
    order: Uint32Array.from({ length: n }, (_, place) => place),
  };
}

// Half of the room for points, where the middle of a map is, and on a plane the pixels of a unit.
function frame(scene, view, width, height) {
  const [x, y] = scene.middles;
  const room = [Math.max(width / 2 - MARGIN, 10), Math.max(height / 2 - MARGIN, 10)];
  const scale = view.zoom * Math.min(room[0] / x.half, room[1] / y.half);
  return { room, left: width / 2 + view.x, top: height / 2 + view.y, scale };
}

// A function from coordinates to [x, y, depth] on a screen of that size. Both axes of a plane have one scale.
function projector(scene, view, width, height) {
  const [x, y, z] = scene.middles;
  const { room, left, top, scale: flatScale } = frame(scene, view, width, height);
  if (scene.dimensions === 2) return (px, py) => [left + (px - x.middle) * flatScale, top - (py - y.middle) * flatScale, 0];
  const scale = (1.1 * view.zoom * Math.min(...room)) / scene.reach; // few points are near the poles of the sphere
  const [sinYaw, cosYaw, sinPitch, cosPitch] = [Math.sin(view.yaw), Math.cos(view.yaw), Math.sin(view.pitch), Math.cos(view.pitch)];
  return (px, py, pz) => {
    const [dx, dy, dz] = [px - x.middle, py - y.middle, pz - z.middle];
    const across = dx * cosYaw + dz * sinYaw;
    const away = dz * cosYaw - dx * sinYaw;
    const up = dy * cosPitch - away * sinPitch;
    const depth = (away * cosPitch + dy * sinPitch) / scene.reach; // -1 far, 1 near
    const nearer = 1 + PERSPECTIVE * depth;
    return [left + across * scale * nearer, top - up * scale * nearer, depth];
  };
}

// Fills scene.screen, and sorts the points of a 3-D map from far to near.
function arrange(scene, view, width, height) {
  const { screen, axes, n } = scene;
  const [xs, ys, zs] = axes;
  if (scene.dimensions === 2) {
    const [{ middle: x }, { middle: y }] = scene.middles;
    const { left, top, scale } = frame(scene, view, width, height);
    for (let i = 0; i < n; i++) {
      screen.x[i] = left + (xs[i] - x) * scale;
      screen.y[i] = top - (ys[i] - y) * scale;
    }
    return;
  }
  const to = projector(scene, view, width, height);
  const counts = new Uint32Array(SLICES + 1);
  const slice = new Uint16Array(n);
  for (let i = 0; i < n; i++) {
    const [x, y, depth] = to(xs[i], ys[i], zs[i]);
    screen.x[i] = x;
    screen.y[i] = y;
    screen.size[i] = 1 + PERSPECTIVE * depth;
    slice[i] = Math.max(0, Math.min(SLICES - 1, ((depth + 1) / 2) * SLICES));
    counts[slice[i] + 1]++;
  }
  for (let k = 0; k < SLICES; k++) counts[k + 1] += counts[k];
  for (let i = 0; i < n; i++) scene.order[counts[slice[i]]++] = i;
}

// The index of the visible point nearest to a pointer, or -1 beyond `within` pixels; of ties the one on top.
function nearestPlace(scene, isVisible, x, y, within) {
  let [best, least] = [-1, within * within];
  const { order, screen } = scene;
  for (let at = 0; at < order.length; at++) {
    const i = order[at];
    const distance = (screen.x[i] - x) ** 2 + (screen.y[i] - y) ** 2;
    if (distance <= least && isVisible(i)) [best, least] = [i, distance];
  }
  return best;
}

// The indices of the visible points inside a polygon of [x, y]: even-odd rule, after a test of its bounding box.
function placesWithin(scene, isVisible, polygon) {
  const [left, right] = extent(polygon.map(([x]) => x));
  const [top, bottom] = extent(polygon.map(([, y]) => y));
  const inside = [];
  for (let i = 0; i < scene.n; i++) {
    const [x, y] = [scene.screen.x[i], scene.screen.y[i]];
    if (x < left || x > right || y < top || y > bottom || !isVisible(i)) continue;
    let odd = false;
    for (let a = 0, b = polygon.length - 1; a < polygon.length; b = a++) {
      const [[ax, ay], [bx, by]] = [polygon[a], polygon[b]];
      if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) odd = !odd;
    }
    if (odd) inside.push(i);
  }
  return inside;
}

// The view after zooming by a factor about a point of the screen.
function zoomed(view, factor, x, y, width, height) {
  const zoom = Math.max(LEAST_ZOOM, Math.min(MOST_ZOOM, view.zoom * factor));
  if (zoom === LEAST_ZOOM) return { ...view, zoom, x: 0, y: 0 };
  const share = zoom / view.zoom;
  const [left, top] = [x - width / 2, y - height / 2];
  return { ...view, zoom, x: left - (left - view.x) * share, y: top - (top - view.y) * share };
}

function extent(values) {
  let [least, most] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return [least, most];
}

// Texts that were packed: base64 of JSON, compressed by zlib.
async function unpacked(text) {
  const stream = new Blob([decoded(text, Uint8Array)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}

// Base64 of little-endian numbers, as numpy writes them.
function decoded(text, Numbers) {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i); // ten times faster than Uint8Array.from
  return new Numbers(bytes.buffer);
}
