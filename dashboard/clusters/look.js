// How points look: shapes, colours of the theme, and each drawn once, to be stamped thousands of times.

const SHAPES = {
  circle: "M-1,0a1,1 0 1,0 2,0a1,1 0 1,0 -2,0z",
  diamond: "M0,-1.32L1.15,0L0,1.32L-1.15,0z",
  square: "M-.9,-.9H.9V.9H-.9z",
  "triangle-up": "M0,-1.25L1.15,.8H-1.15z",
  cross: "M-1.2,-.42H-.42V-1.2H.42V-.42H1.2V.42H.42V1.2H-.42V.42H-1.2z",
};
const CENTROID_RADIUS = 7;
const FADED = 0.3; // opacity of what is not selected
// The more points, the smaller each: [at most so many, radius in pixels].
const RADII = [[300, 5], [1500, 4], [6000, 3], [Infinity, 2.3]];

// Colours come from Streamlit's theme at `root`; `symbols` are the shapes of the classes.
function createLook(root, symbols, nPoints) {
  const style = getComputedStyle(root);
  const of = (name) => style.getPropertyValue(`--st-${name}`).trim();
  const palette = of("chart-categorical-colors").split(",");
  const radius = RADII.find(([most]) => nPoints <= most)[1];
  const look = {
    radius, palette, ground: of("background-color"), text: of("text-color"), grey: of("gray-color"), accent: of("primary-color"),
    color: (k) => palette[k % palette.length], sprites,
  };
  const made = new Map();

  function sprites(kind, ratio) {
    const key = `${kind} ${ratio}`;
    if (!made.has(key)) made.set(key, symbols.map((symbol, k) => sprite(kind, symbol, look.color(k), ratio)));
    return made.get(key);
  }

  function sprite(kind, symbol, color, ratio) {
    const size = kind === "centroid" ? CENTROID_RADIUS : radius;
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = Math.ceil((size * 1.32 + (kind === "centroid" ? 3 : 1)) * 2 * ratio);
    const context = canvas.getContext("2d");
    context.setTransform(size * ratio, 0, 0, size * ratio, canvas.width / 2, canvas.height / 2);
    const shape = new Path2D(SHAPES[symbol]);
    const outline = (stroke, pixels) => {
      context.lineWidth = pixels / size;
      context.strokeStyle = stroke;
      context.stroke(shape);
    };
    context.globalAlpha = kind === "faded" ? FADED : 1;
    if (kind === "centroid") outline(look.ground, 5);
    if (kind === "centroid") outline(look.text, 2.4);
    context.fillStyle = kind === "faded" ? look.grey : color;
    // A thin line of the ground's colour keeps points apart where they overlap.
    if (kind === "point" && radius >= 3) outline(look.ground, 1.4);
    context.fill(shape);
    return canvas;
  }

  return look;
}
