// The appearance of points: shapes, colours of the theme, and sprites, drawn once and copied for each point.

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

// Colours are those of Streamlit's theme at `root`, or of `ramps` by theme where the colours say an order; `symbols` are
// the shapes of the classes.
function createPointStyle(root, symbols, nPoints, ramps) {
  const style = getComputedStyle(root);
  const color = (name) => style.getPropertyValue(`--st-${name}`).trim();
  const palette = ramps ? ramps[isDark(color("background-color")) ? "dark" : "light"] : color("chart-categorical-colors").split(",");
  const radius = RADII.find(([most]) => nPoints <= most)[1];
  const pointStyle = {
    radius, palette, ground: color("background-color"), text: color("text-color"), grey: color("gray-color"), accent: color("primary-color"),
    font: style.fontFamily || "sans-serif",
    color: (k) => palette[k % palette.length], sprites,
  };
  const cache = new Map();

  function sprites(kind, ratio) {
    const key = `${kind} ${ratio}`;
    if (!cache.has(key)) cache.set(key, symbols.map((symbol, k) => sprite(kind, symbol, pointStyle.color(k), ratio)));
    return cache.get(key);
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
    if (kind === "centroid") outline(pointStyle.ground, 5);
    if (kind === "centroid") outline(pointStyle.text, 2.4);
    context.fillStyle = kind === "faded" ? pointStyle.grey : color;
    // A thin outline in the background colour separates overlapping points.
    if (kind === "point" && radius >= 3) outline(pointStyle.ground, 1.4);
    context.fill(shape);
    return canvas;
  }

  return pointStyle;
}

// Whether a colour, #rrggbb, is a dark one.
function isDark(color) {
  const parts = /^#(..)(..)(..)/.exec(color)?.slice(1).map((part) => parseInt(part, 16)) ?? [255, 255, 255];
  return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2] < 128;
}
