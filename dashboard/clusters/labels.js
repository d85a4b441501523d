// Names beside the centroids of classes, each where it covers no other one.

const LABEL_SIZE = 12; // pixels
const LABEL_LETTERS = 18; // of a name; the legend has all of it
const LABEL_GAP = 10; // pixels between a centroid and its name

// Where names of these widths stand: [left, baseline], or null where every place beside a centroid is taken.
function labelPlaces(centroids, widths, width, height) {
  const taken = [];
  return centroids.map(([x, y], i) => {
    const wide = widths[i];
    const places = [[x - wide / 2, y - LABEL_GAP], [x - wide / 2, y + LABEL_GAP + LABEL_SIZE], [x + LABEL_GAP, y + LABEL_SIZE / 3], [x - LABEL_GAP - wide, y + LABEL_SIZE / 3]];
    const free = places.find(([left, base]) => {
      const isWithin = left >= 0 && left + wide <= width && base - LABEL_SIZE >= 0 && base <= height;
      return isWithin && taken.every(([l, b, w]) => left + wide < l || left > l + w || Math.abs(base - b) > LABEL_SIZE);
    });
    if (!free) return null;
    taken.push([...free, wide]);
    return free;
  });
}

function labelOf(name) {
  const letters = [...name];
  return letters.length > LABEL_LETTERS ? `${letters.slice(0, LABEL_LETTERS - 1).join("")}…` : name;
}

// The width of a text where nothing can be measured: a kanji is as wide as it is high.
function roughWidth(text) {
  return [...text].reduce((sum, letter) => sum + (letter.codePointAt(0) > 0x2e7f ? LABEL_SIZE : 0.6 * LABEL_SIZE), 0);
}
