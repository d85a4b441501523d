// One map: its canvases and what is drawn on them.

const LEAST_HEIGHT = 280;
const MOST_HEIGHT = 470;

// `shared` is what all maps have in common: data, classes, pointStyle, state, and callbacks (see linked_maps.js).
function createMap(model, shared) {
  let scene = shared.sceneOf(model);
  let moving = null; // while points move from one model to the next: where each sentence was, and the share of its way
  const [figure, stage] = [element("figure", "map"), element("div", "stage")];
  const [base, overlay] = [element("canvas"), element("canvas")];
  const caption = element("figcaption");
  overlay.tabIndex = 0;
  overlay.setAttribute("role", "img");
  const dense = element("div", "dense", shared.data.words.dense);
  dense.hidden = true;
  stage.append(base, overlay, dense);
  figure.append(caption, stage);

  let [width, height, ratio] = [0, 0, 1];
  let view = shared.remembered(model.name) ?? { ...FIRST_VIEW };
  const map = {
    figure, stage, overlay, outline: null, resize, draw, mark, show, become,
    get scene() { return scene; },
    get title() { return model.title; },
    size: () => [width, height], view: () => view,
    isVisible: (i) => !shared.state.hidden.has(shared.classes[scene.sentences[i]]),
  };

  function entitle() {
    caption.textContent = model.title;
    if (model.note) caption.append(element("span", "note", model.note));
  }

  // The map of another model: the points move to their places on it.
  function become(next) {
    const [x, y] = [0, 1].map(() => new Float32Array(shared.data.rows.length).fill(NaN));
    scene.sentences.forEach((sentence, i) => ([x[sentence], y[sentence]] = [scene.screen.x[i], scene.screen.y[i]]));
    [model, scene, view] = [next, shared.sceneOf(next), shared.remembered(next.name) ?? { ...FIRST_VIEW }];
    entitle();
    const own = scene;
    animate((share) => {
      if (scene !== own) return; // another model has been chosen since
      moving = share < 1 ? { x, y, share } : null;
      draw();
    });
  }

  function move() {
    const { screen, sentences, n } = scene;
    for (let i = 0; i < n; i++) {
      const [x, y] = [moving.x[sentences[i]], moving.y[sentences[i]]];
      if (Number.isNaN(x)) continue;
      screen.x[i] = x + (screen.x[i] - x) * moving.share;
      screen.y[i] = y + (screen.y[i] - y) * moving.share;
    }
  }

  function resize() {
    width = stage.clientWidth;
    const most = figure.closest("dialog") ? window.innerHeight * 0.72 : MOST_HEIGHT;
    height = Math.round(Math.max(LEAST_HEIGHT, Math.min(most, width * 0.86)));
    ratio = Math.min(window.devicePixelRatio || 1, 2);
    stage.style.height = `${height}px`;
    for (const canvas of [base, overlay]) Object.assign(canvas, { width: width * ratio, height: height * ratio });
    draw();
  }

  function show(next) {
    view = next;
    shared.remember(model.name, view);
    draw();
  }

  function draw() {
    if (!width) return;
    const { state } = shared;
    const context = cleared(base);
    arrange(scene, view, width, height);
    if (moving) move();
    const anySelected = state.nSelected > 0;
    const isDense = scene.n > DENSE_POINTS ? drawMany(context, anySelected) : drawEach(context, anySelected);
    if (dense.hidden === isDense) dense.hidden = !isDense;
    let n = 0;
    if (anySelected) for (let i = 0; i < scene.n; i++) n += state.selected[scene.sentences[i]];
    if (state.centroids && !moving) drawCentroids(context, anySelected);
    figure.dataset.selected = n;
    const { words } = shared.data;
    overlay.setAttribute("aria-label", filled(anySelected ? words.map_selected : words.map, { n: scene.n, model: model.title, selected: n }));
    // A vertical swipe scrolls the page, unless it draws a selection or the map is zoomed.
    overlay.style.touchAction = state.tool === "move" && view.zoom === 1 ? "pan-y" : "none";
    overlay.style.cursor = state.tool === "move" ? "grab" : "crosshair";
    mark();
  }

  // Draws every point by itself, selected ones on top of the others; false: nothing is drawn as a density.
  function drawEach(context, anySelected) {
    const { pointStyle, state, classes } = shared;
    const [points, faded] = [pointStyle.sprites("point", ratio), pointStyle.sprites("faded", ratio)];
    const { x, y, size } = scene.screen;
    const painter = scene.n > MANY_POINTS ? pixelPainter(context, ratio) : null;
    const put = painter?.put ?? ((image, left, top, share) => stamp(context, image, left, top, share));
    for (const isTop of anySelected ? [false, true] : [true]) {
      for (const i of scene.order) {
        const sentence = scene.sentences[i];
        if (anySelected && (state.selected[sentence] === 1) !== isTop) continue;
        if (map.isVisible(i)) put((isTop ? points : faded)[classes[sentence]], x[i], y[i], size[i]);
      }
    }
    painter?.finish();
    return false;
  }

  // Draws of a large map what is in view: as a density where that is much, else each point; returns whether a density is.
  function drawMany(context, anySelected) {
    const { pointStyle, state, classes } = shared;
    const { x, y, size } = scene.screen;
    const shows = shared.data.classes.map((_, k) => !state.hidden.has(k));
    const { rest, top } = layersInView(scene, classes, anySelected ? state.selected : null, shows, width, height, 2 * pointStyle.radius);
    for (const [layer, kind] of [[rest, "faded"], [top, "point"]]) {
      if (!layer.length) continue;
      if (layer.length > DENSE_POINTS) {
        const colors = shows.map((_, k) => channels(kind === "faded" ? pointStyle.grey : pointStyle.color(k)));
        drawDensity(context, densityOf(scene, layer, classes, colors, width, height), width, height, kind === "faded" ? FADED : 1);
        continue;
      }
      const images = pointStyle.sprites(kind, ratio);
      const sheet = element("canvas");
      Object.assign(sheet, { width: base.width, height: base.height });
      const painter = pixelPainter(sheet.getContext("2d"), ratio);
      for (let at = 0; at < layer.length; at++) {
        const i = layer[at];
        painter.put(images[classes[scene.sentences[i]]], x[i], y[i], size[i]);
      }
      painter.finish();
      context.drawImage(sheet, 0, 0, width, height);
    }
    return Math.max(rest.length, top.length) > DENSE_POINTS;
  }

  function drawCentroids(context, isFaded) {
    const to = projector(scene, view, width, height);
    const images = shared.pointStyle.sprites("centroid", ratio);
    context.globalAlpha = isFaded ? 0.55 : 1;
    const drawn = scene.centroids.filter(({ k }) => !shared.state.hidden.has(k)).map(({ k, at }) => ({ k, at: to(...at).slice(0, 2) }));
    for (const { k, at } of drawn) stamp(context, images[k], ...at, 1);
    context.globalAlpha = 1;
    context.font = `600 ${LABEL_SIZE}px ${shared.pointStyle.font}`;
    const names = drawn.map(({ k }) => labelOf(shared.data.classes[k].name));
    const places = labelPlaces(drawn.map(({ at }) => at), names.map((name) => context.measureText(name).width), width, height);
    Object.assign(context, { lineJoin: "round", lineWidth: 4, strokeStyle: shared.pointStyle.ground, fillStyle: shared.pointStyle.text });
    places.forEach((place, i) => {
      if (!place) return;
      context.strokeText(names[i], ...place);
      context.fillText(names[i], ...place);
    });
  }

  // Draws what changes with pointer moves: the outline, the sentence under the pointer, the clicked one with its neighbours.
  function mark() {
    if (!width) return;
    const { pointStyle, state } = shared;
    const context = cleared(overlay);
    const [focus, hovered] = [placeOf(state.focus), placeOf(state.hovered)];
    if (focus) {
      const near = neighboursOf(state.focus).map((sentence) => [sentence, placeOf(sentence)]).filter(([, at]) => at);
      context.strokeStyle = pointStyle.text;
      context.globalAlpha = 0.45;
      for (const [, at] of near) stroke(context, [focus, at]);
      context.globalAlpha = 1;
      for (const [sentence, at] of near) stamp(context, pointStyle.sprites("point", ratio)[shared.classes[sentence]], ...at, 1);
      ring(context, focus, pointStyle.radius + 5, 2.5);
    }
    if (hovered) ring(context, hovered, pointStyle.radius + 4, 1.5);
    if (map.outline) {
      context.setLineDash([5, 4]);
      context.strokeStyle = context.fillStyle = pointStyle.accent;
      stroke(context, [...map.outline, map.outline[0]]);
      context.globalAlpha = 0.08;
      context.fill();
    }
  }

  function placeOf(sentence) {
    const i = sentence < 0 ? -1 : scene.places[sentence];
    return i < 0 || !map.isVisible(i) ? null : [scene.screen.x[i], scene.screen.y[i]];
  }

  function neighboursOf(sentence) {
    if (!scene.nNeighbours) return shared.nearOf(model, sentence);
    const first = scene.places[sentence] * scene.nNeighbours;
    return [...scene.neighbours.subarray(first, first + scene.nNeighbours)].filter((other) => other < scene.places.length);
  }

  function stamp(context, image, x, y, size) {
    const side = (image.width / ratio) * size;
    context.drawImage(image, x - side / 2, y - side / 2, side, side);
  }

  function stroke(context, line) {
    context.beginPath();
    line.forEach((at, i) => (i ? context.lineTo(...at) : context.moveTo(...at)));
    context.stroke();
  }

  function ring(context, [x, y], radius, thickness) {
    for (const [color, line] of [[shared.pointStyle.ground, thickness + 2.5], [shared.pointStyle.text, thickness]]) {
      context.beginPath();
      context.arc(x, y, radius, 0, 2 * Math.PI);
      context.lineWidth = line;
      context.strokeStyle = color;
      context.stroke();
    }
  }

  function cleared(canvas) {
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    context.globalAlpha = 1;
    context.lineWidth = 1;
    context.setLineDash([]);
    return context;
  }

  entitle();
  listen(map, shared);
  return map;
}
