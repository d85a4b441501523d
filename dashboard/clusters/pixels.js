// Draws thousands of points directly into the pixels of a map: several times faster than drawing an image for each.

const MANY_POINTS = 3000;
const pixelsOf = new WeakMap(); // image of a point -> its pixels

// `put` draws an image at a position; `finish` copies all of them onto the canvas.
function pixelPainter(context, ratio) {
  const { width, height } = context.canvas;
  const picture = context.createImageData(width, height);
  const target = picture.data;

  function put(image, x, y) {
    const data = readPixels(image);
    const side = image.width;
    const [left, top] = [Math.round(x * ratio - side / 2), Math.round(y * ratio - side / 2)];
    for (let row = Math.max(0, -top); row < Math.min(side, height - top); row++) {
      for (let column = Math.max(0, -left); column < Math.min(side, width - left); column++) {
        const from = 4 * (row * side + column);
        const alpha = data[from + 3];
        if (alpha === 0) continue;
        const to = 4 * ((top + row) * width + left + column);
        const below = (target[to + 3] * (255 - alpha)) / 255; // visible share of what is under a translucent pixel
        const sum = alpha + below;
        for (let part = 0; part < 3; part++) target[to + part] = (data[from + part] * alpha + target[to + part] * below) / sum;
        target[to + 3] = sum;
      }
    }
  }

  return { put, finish: () => context.putImageData(picture, 0, 0) };
}

function readPixels(image) {
  if (!pixelsOf.has(image)) pixelsOf.set(image, image.getContext("2d").getImageData(0, 0, image.width, image.height).data);
  return pixelsOf.get(image);
}
