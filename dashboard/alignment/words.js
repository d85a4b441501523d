// What the alignment view says of a token, and its legend: lines of [text, name of a style]. Nothing is drawn here.

const SCORE = { reference: "recall", candidate: "precision" };

function explanation(data, side, index) {
  const token = data[side][index];
  const other = side === "reference" ? "candidate" : "reference";
  if (token.special) return [[token.text, "title"], ["A special token of the model: its weight is 0."]];
  const match = token.match < 0 ? null : data[other][token.match];
  const lines = [[`${token.text} → ${match ? match.text : "no match"}`, "title"]];
  if (token.piece !== token.text) lines.push([`piece ${token.piece}`]);
  if (token.similarity !== null) lines.push([`similarity ${fixed(token.similarity)}${answered(data, side, index) ? "" : ", chosen from this side only"}`]);
  if (token.idf !== null) lines.push([`idf ${fixed(token.idf)}${threshold(data, token)}`]);
  if (token.name && data.names) lines.push(["proper noun"]);
  const whose = data.whole ? "its word is read" : "read";
  if (token.counted) lines.push(...compared(data, token));
  else if (token.reading && token.reading !== token.text) lines.push([`${whose} ${token.reading}`]);
  if (token.share !== null) {
    const adds = token.similarity === null ? "" : `, adds ${fixed(token.share * token.similarity)}`;
    lines.push([`share of ${SCORE[side]} ${percent(token.share)}${adds}`]);
  }
  if (token.match_special) lines.push([`Its best match is the special token ${match.text}: no word answers for it.`]);
  return lines;
}

// How the readings of a token that the penalty counts compare, and the M that follows.
function compared(data, token) {
  const [own, other] = [token.reading, token.match_reading].map((reading) => reading || "(no reading)");
  const apart = token.longest === null ? `distance ${token.distance}` : `distance ${token.distance} of ${token.longest}`;
  const lines = data.joined ? [[`read ${own} / ${other}`], [`all such tokens together: ${apart}`]] : [[`${own} / ${other}: ${apart}`]];
  const counts = data.penalised ? "" : ", not counted without the penalty";
  return [...lines, [`M = ${fixed(token.agreement)}${counts}`, costs(data, token) ? "warm" : ""]];
}

// Whether the match of a token chooses it, too.
function answered(data, side, index) {
  const { match } = data[side][index];
  if (match < 0) return false;
  const back = data[side === "reference" ? "candidate" : "reference"][match];
  return back.special || back.match === index;
}

function threshold(data, token) {
  if (data.threshold === null) return "";
  return token.low ? ` (above ${fixed(data.threshold)})` : ` (not above ${fixed(data.threshold)})`;
}

// Whether the penalty takes something for the token.
function costs(data, token) {
  return token.counted && data.penalised && token.agreement < 1;
}

// The legend, of what occurs in this pair only.
function legendOf(data) {
  const all = SIDES.flatMap((side) => data[side]).filter((token) => !token.special);
  const parts = [[`Point at a ${data.unit === "word" ? "word" : "token"}, tap it, or move with Tab and the arrow keys. `],
    [`Shade and number: similarity to the best match, pale at ${fixed(data.ground)}, the median of this pair. `]];
  if (all.some((token) => token.low)) parts.push(["Dashed: low-frequency. ", "warm"]);
  if (data.names && all.some((token) => token.name)) parts.push(["Underlined: proper noun. ", "warm"]);
  if (data.penalised && all.some((token) => token.counted)) parts.push(["M: the penalty counts it. ", "warm"]);
  if (all.some((token) => token.match_special)) parts.push(["◦: the best match is a special token."]);
  return parts;
}

function fixed(value) {
  return value === null ? "undefined" : value.toFixed(2);
}

function percent(value) {
  return `${(100 * value).toFixed(1)} %`;
}
