// The best matches of a pair as links: which there are, and the curve of each.

const SVG = "http://www.w3.org/2000/svg";

// The best matches of both sides; two tokens that are each other's best match have one link.
function linksOf(data) {
  const byKey = new Map();
  for (const side of SIDES) {
    data[side].forEach((token, index) => {
      if (token.special || token.match < 0) return;
      const [reference, candidate] = side === "reference" ? [index, token.match] : [token.match, index];
      const key = `${reference} ${candidate}`;
      const link = byKey.get(key) ?? { reference, candidate, from: [], token, warm: false };
      link.from.push(side);
      link.special = token.match_special;
      link.warm ||= costs(data, token);
      byKey.set(key, link);
    });
  }
  return [...byKey.values()];
}

// From 0 at the median similarity of the pair to 1.
function shade(data, token) {
  return Math.max(0, Math.min(1, ((token.similarity ?? 0) - data.ground) / (1 - data.ground)));
}

// The curve of a link between the boxes of its tokens, within `box`.
function linkPath(data, link, above, below, box) {
  const [x1, y1] = [above.x + above.width / 2 - box.x, above.bottom - box.y + 2];
  const [x2, y2] = [below.x + below.width / 2 - box.x, below.top - box.y - 2];
  const middle = (y1 + y2) / 2;
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", `M${x1},${y1}C${x1},${middle} ${x2},${middle} ${x2},${y2}`);
  const mutual = link.from.length === 2;
  const depth = shade(data, link.token);
  path.style.setProperty("--weight", `${(mutual ? 1.3 : 0.9) + depth}px`);
  path.style.setProperty("--strength", `${(mutual ? 0.3 : 0.16) + 0.45 * depth}`);
  path.classList.toggle("special", link.special);
  path.classList.toggle("warm", link.warm);
  return path;
}
