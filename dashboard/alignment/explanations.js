// Texts of the alignment view: the explanation of a token, and the legend, as [text, name of a style]. No drawing.

const SCORE = { reference: "recall", candidate: "precision" };

function explanation(data, side, index) {
  const token = data[side][index];
  const other = side === "reference" ? "candidate" : "reference";
  if (token.special) return [[token.text, "title"], ["A special token of the model."], ...contribution(token, side)];
  const match = token.match < 0 ? null : data[other][token.match];
  const lines = [[`${token.text} → ${match ? match.text : "no match"}`, "title"]];
  if (token.piece !== token.text) lines.push([`piece ${token.piece}`]);
  if (token.similarity !== null) lines.push([`similarity ${fixed(token.similarity)}${isMutual(data, side, index) ? "" : ", best match of this token only"}`]);
  if (token.idf !== null) lines.push([`idf ${fixed(token.idf)}${threshold(data, token)}`]);
  if (token.unknown) lines.push(["not in the vocabulary: the model sees one token for all such text, the penalty this text"]);
  if (token.name && data.names) lines.push([data.by_name ? `name${token.source && token.source !== "surface" ? `, reading by ${token.source}` : ""}` : "proper noun"]);
  const label = data.whole ? "reading of its word:" : "reading:";
  if (token.counted) lines.push(...compared(data, side, token));
  else if (token.reading && token.reading !== token.text) lines.push([`${label} ${token.reading}`]);
  lines.push(...contribution(token, side));
  if (token.match_special) lines.push([`Its best match is the special token ${match.text}: no word matches it.`]);
  return lines;
}

// What a token adds to the score of its side.
function contribution(token, side) {
  if (token.special && !token.share) return [["Its weight is 0."]];
  if (token.share === null) return [];
  const adds = token.similarity === null ? "" : `, adds ${fixed(token.share * token.similarity)}`;
  return [[`share of ${SCORE[side]} ${percent(token.share)}${adds}`]];
}

// The readings of a penalised token and of its match, and their agreement M.
function compared(data, side, token) {
  const match = data[side === "reference" ? "candidate" : "reference"][token.match];
  const [own, other] = match && !match.special && token.whole && match.whole ? [token.reading, match.reading]
    : [`${token.text} (as written)`, !match || match.special ? "(no match)" : match.text];
  const distance = token.longest === null ? `distance ${token.distance}` : `distance ${token.distance} of ${token.longest}`;
  const lines = data.joined ? [[`readings ${own} / ${other}`], [`all such tokens together: ${distance}`]] : [[`${own} / ${other}: ${distance}`]];
  const note = data.by_name ? ": M² takes the place of the cosine, with three times the weight" : data.penalised ? "" : ", not used without the penalty";
  return [...lines, [`M = ${fixed(token.agreement)}${note}`, costs(data, token) ? "warm" : ""]];
}

// Whether a token is also the best match of its match.
function isMutual(data, side, index) {
  const { match } = data[side][index];
  if (match < 0) return false;
  const partner = data[side === "reference" ? "candidate" : "reference"][match];
  return partner.special || partner.match === index;
}

function threshold(data, token) {
  if (data.threshold === null) return "";
  return token.low ? ` (above ${fixed(data.threshold)})` : ` (not above ${fixed(data.threshold)})`;
}

// Whether the penalty lowers the score because of the token.
function costs(data, token) {
  return token.counted && data.penalised && token.agreement < 1;
}

// The legend, limited to what occurs in this pair.
function legendOf(data) {
  const all = SIDES.flatMap((side) => data[side]).filter((token) => !token.special);
  const parts = [[`Point at a ${data.unit === "word" ? "word" : "token"}, tap it, or move with Tab and the arrow keys. `],
    [`Shade and number: similarity to the best match, pale at ${fixed(data.ground)}, the median of this pair. `]];
  if (all.some((token) => token.low)) parts.push(["Dashed: low-frequency. ", "warm"]);
  if (all.some((token) => token.unknown)) parts.push(["Dotted: not in the vocabulary. ", "warm"]);
  if (data.names && all.some((token) => token.name)) parts.push([data.by_name ? "Underlined: name. " : "Underlined: proper noun. ", "warm"]);
  if (data.penalised && all.some((token) => token.counted)) parts.push([data.by_name ? "M: agreement of the readings of names. " : "M: agreement of readings, used by the penalty. ", "warm"]);
  if (all.some((token) => token.match_special)) parts.push(["◦: the best match is a special token."]);
  return parts;
}

function fixed(value) {
  return value === null ? "undefined" : value.toFixed(2);
}

function percent(value) {
  return `${(100 * value).toFixed(1)} %`;
}
