// Draws thousands of points directly into the pixels of a map: several times faster than drawing an image for each.

const MANY_POINTS = 3000;
const pixelsOf = new WeakMap(); // image of a point -> its pixels and, for the width of a map, where they go

// `put` draws an image at a position; `finish` copies all of them onto the canvas.
function pixelPainter(context, ratio) {
  const { width, height } = context.canvas;
  const picture = context.createImageData(width, height);
  const target = picture.data;
  const words = new Uint32Array(target.buffer); // a pixel each

  function put(image, x, y) {
    const { side, data, solid, solidAt, mixed, mixedAt } = pixelsFor(image, width);
    const [left, top] = [Math.round(x * ratio - side / 2), Math.round(y * ratio - side / 2)];
    const first = top * width + left;
    if (left >= 0 && top >= 0 && left + side <= width && top + side <= height) {
      for (let i = 0; i < solid.length; i++) words[first + solidAt[i]] = solid[i];
      for (let i = 0; i < mixed.length; i++) mix(data, mixed[i], 4 * (first + mixedAt[i]));
      return;
    }
    for (let row = Math.max(0, -top); row < Math.min(side, height - top); row++) {
      for (let column = Math.max(0, -left); column < Math.min(side, width - left); column++) {
        const from = 4 * (row * side + column);
        if (data[from + 3]) mix(data, from, 4 * (first + row * width + column));
      }
    }
  }

  function mix(data, from, to) {
    const alpha = data[from + 3];
    const below = (target[to + 3] * (255 - alpha)) / 255; // visible share of what is under a translucent pixel
    const sum = alpha + below;
    for (let part = 0; part < 3; part++) target[to + part] = (data[from + part] * alpha + target[to + part] * below) / sum;
    target[to + 3] = sum;
  }

  return { put, finish: () => context.putImageData(picture, 0, 0) };
}

// Opaque pixels, which are copied as they are, apart from translucent ones: `At` is the distance from the first pixel.
function pixelsFor(image, width) {
  const known = pixelsOf.get(image);
  if (known?.width === width) return known;
  const side = image.width;
  const data = known?.data ?? image.getContext("2d").getImageData(0, 0, side, side).data;
  const words = new Uint32Array(data.buffer);
  const [solid, solidAt, mixed, mixedAt] = [[], [], [], []];
  for (let pixel = 0; pixel < side * side; pixel++) {
    const at = Math.floor(pixel / side) * width + (pixel % side);
    const alpha = data[4 * pixel + 3];
    if (alpha === 255) {
      solid.push(words[pixel]);
      solidAt.push(at);
    } else if (alpha) {
      mixed.push(4 * pixel);
      mixedAt.push(at);
    }
  }
  const pixels = { width, side, data, solid: Uint32Array.from(solid), solidAt, mixed, mixedAt };
  pixelsOf.set(image, pixels);
  return pixels;
}
