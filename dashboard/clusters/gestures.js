// Mouse, touch and keyboard input of one map: move, rotate, zoom, hover, and selection by click, box or lasso.

const CLICK_REACH = { mouse: 10, pen: 14, touch: 18 }; // most pixels between a pointer and the point it hits
const CLICK_SLACK = 4; // most pixels that a pointer moves during a click
const KEY_STEP = 30; // pixels that an arrow key moves
const TURN = 150; // pixels for a radian
const ZOOM_STEP = 1.5;

function listen(map, shared) {
  const { overlay, stage } = map;
  const pointers = new Map();
  let drag = null;

  const zoomBy = (factor, x = map.size()[0] / 2, y = map.size()[1] / 2) => map.show(zoomed(map.view(), factor, x, y, ...map.size()));
  const reset = () => map.show({ ...FIRST_VIEW });
  const { words } = shared.data;
  stage.append(zoomButtons([[words.zoom_in, "+", () => zoomBy(ZOOM_STEP)], [words.zoom_out, "−", () => zoomBy(1 / ZOOM_STEP)], [words.whole, "⟲", reset]], (action) => filled(words.of_map, { action, model: map.title })));

  function moveBy(dx, dy) {
    const view = map.view();
    if (map.scene.dimensions === 2) map.show({ ...view, x: view.x + dx, y: view.y + dy });
    else map.show({ ...view, yaw: view.yaw - dx / TURN, pitch: Math.max(-1.57, Math.min(1.57, view.pitch + dy / TURN)) });
  }

  overlay.onpointerdown = (event) => {
    if (event.button !== 0) return;
    overlay.setPointerCapture(event.pointerId);
    const here = point(event);
    pointers.set(event.pointerId, here);
    drag = pointers.size > 1 ? { apart: between().apart } : { start: here, last: here, path: [here], moved: false };
    shared.hover(-1);
  };

  overlay.onpointermove = (event) => {
    const here = point(event);
    if (!pointers.has(event.pointerId)) {
      if (event.pointerType !== "touch") hoverAt(here, event);
      return;
    }
    pointers.set(event.pointerId, here);
    if (pointers.size > 1) pinch();
    else if (drag?.start) dragTo(here);
  };

  function pinch() {
    const { apart, x, y } = between();
    if (drag?.apart) zoomBy(apart / drag.apart, x, y);
    drag = { apart };
  }

  function dragTo(here) {
    drag.moved ||= Math.hypot(here[0] - drag.start[0], here[1] - drag.start[1]) > CLICK_SLACK;
    if (!drag.moved) return;
    if (shared.state.tool === "move") {
      moveBy(here[0] - drag.last[0], here[1] - drag.last[1]);
      drag.last = here;
      return;
    }
    drag.path.push(here);
    map.outline = shared.state.tool === "box" ? [drag.start, [here[0], drag.start[1]], here, [drag.start[0], here[1]]] : drag.path;
    map.mark();
  }

  overlay.onpointerup = (event) => {
    const [ended, outline] = [drag, map.outline];
    release(event);
    if (outline) {
      shared.select(placesWithin(map.scene, map.isVisible, outline).map((i) => map.scene.sentences[i]), event.shiftKey);
    } else if (ended?.start && !ended.moved) {
      const sentence = sentenceAt(point(event), event);
      shared.select(sentence < 0 ? [] : [sentence], event.shiftKey);
      if (event.pointerType === "touch") shared.hover(sentence, event.clientX, event.clientY);
    }
  };

  overlay.onpointercancel = release;
  overlay.onpointerleave = (event) => event.pointerType !== "touch" && shared.hover(-1);
  overlay.ondblclick = (event) => sentenceAt(point(event), event) < 0 && reset();
  // A wheel scrolls the page; with Ctrl, which is also what a pinch on a touchpad sends, it zooms.
  overlay.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    zoomBy(Math.exp(-event.deltaY / 200), ...point(event));
  }, { passive: false });
  overlay.onkeydown = (event) => {
    const act = {
      ArrowLeft: () => moveBy(-KEY_STEP, 0), ArrowRight: () => moveBy(KEY_STEP, 0), ArrowUp: () => moveBy(0, -KEY_STEP),
      ArrowDown: () => moveBy(0, KEY_STEP), "+": () => zoomBy(ZOOM_STEP), "-": () => zoomBy(1 / ZOOM_STEP), 0: reset,
      Escape: () => shared.select([], false),
    }[event.key];
    if (!act || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    act();
  };

  function hoverAt(here, event) {
    shared.hover(sentenceAt(here, event), event.clientX, event.clientY);
  }

  function sentenceAt(here, event) {
    const i = nearestPlace(map.scene, map.isVisible, ...here, CLICK_REACH[event.pointerType] ?? CLICK_REACH.mouse);
    return i < 0 ? -1 : map.scene.sentences[i];
  }

  function release(event) {
    pointers.delete(event.pointerId);
    drag = null;
    map.outline = null;
    map.mark();
  }

  function point(event) {
    const box = overlay.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  function between() {
    const [[ax, ay], [bx, by]] = pointers.values();
    return { apart: Math.max(Math.hypot(ax - bx, ay - by), 1), x: (ax + bx) / 2, y: (ay + by) / 2 };
  }
}

function zoomButtons(acts, named) {
  const row = element("div", "zoom");
  for (const [label, text, act] of acts) {
    const button = element("button", "", text);
    button.type = "button";
    button.title = label;
    button.setAttribute("aria-label", named(label));
    button.onclick = act;
    row.append(button);
  }
  return row;
}

// A text with values in its {places}.
function filled(text, values) {
  return text.replace(/\{(\w+)\}/g, (place, name) => values[name] ?? place);
}

function element(tag, name = "", text = "") {
  const created = document.createElement(tag);
  if (name) created.className = name;
  if (text) created.textContent = text;
  return created;
}
