// Texts of the alignment view, from data.texts: the explanation of a token, and the legend, as [text, name of a style].

// A text of data.texts with its values.
function say(data, name, values = {}) {
  return data.texts[name].replace(/\{(\w+)\}/g, (_, key) => values[key]);
}

function explanation(data, side, index) {
  const token = data[side][index];
  const other = side === "reference" ? "candidate" : "reference";
  if (token.special) return [[token.text, "title"], [say(data, "special")], ...contribution(data, token, side)];
  const match = token.match < 0 ? null : data[other][token.match];
  const lines = [[`${token.text} → ${match ? match.text : say(data, "no-match")}`, "title"]];
  if (token.piece !== token.text) lines.push([say(data, "piece", token)]);
  if (token.similarity !== null) lines.push([say(data, isMutual(data, side, index) ? "similarity" : "one-sided", { similarity: fixed(data, token.similarity) })]);
  if (token.idf !== null) lines.push([rarity(data, token)]);
  if (token.unknown) lines.push([say(data, "unknown")]);
  if (token.name && data.names) lines.push([nameLine(data, token)]);
  if (token.counted) lines.push(...compared(data, side, token));
  else if (token.reading && token.reading !== token.text) lines.push([say(data, data.whole ? "word-reading" : "reading", token)]);
  lines.push(...contribution(data, token, side));
  if (token.match_special) lines.push([say(data, "to-special", { match: match.text })]);
  return lines;
}

function rarity(data, token) {
  const values = { idf: fixed(data, token.idf), threshold: fixed(data, data.threshold) };
  return say(data, data.threshold === null ? "idf" : token.low ? "idf-above" : "idf-below", values);
}

function nameLine(data, token) {
  if (!data.by_name) return say(data, "proper-noun");
  return token.source && token.source !== "surface" ? say(data, "name-by", token) : say(data, "name");
}

// What a token adds to the score of its side.
function contribution(data, token, side) {
  if (token.special && !token.share) return [[say(data, "weightless")]];
  if (token.share === null) return [];
  const score = side === "reference" ? "recall" : "precision";
  const share = say(data, "percent", { value: (100 * token.share).toFixed(1) });
  if (token.similarity === null) return [[say(data, `share-of-${score}`, { share })]];
  return [[say(data, `adds-to-${score}`, { share, amount: fixed(data, token.share * token.similarity) })]];
}

// The readings of a penalised token and of its match, and their agreement M.
function compared(data, side, token) {
  const match = data[side === "reference" ? "candidate" : "reference"][token.match];
  const isWhole = match && !match.special && token.whole && match.whole;
  const own = isWhole ? token.reading : say(data, "as-written", token);
  const other = isWhole ? match.reading : !match || match.special ? say(data, "nothing") : match.text;
  const of = token.longest === null ? "" : "-of";
  const lines = data.joined ? [[say(data, "readings", { own, other })], [say(data, `joined-distance${of}`, token)]]
    : [[say(data, `distance${of}`, { ...token, own, other })]];
  const agreement = fixed(data, token.agreement);
  const line = data.by_name ? say(data, "agreement-of-names", { agreement })
    : data.penalised ? `M = ${agreement}` : say(data, "agreement-unused", { agreement });
  return [...lines, [line, costs(data, token) ? "warm" : ""]];
}

// Whether a token is also the best match of its match.
function isMutual(data, side, index) {
  const { match } = data[side][index];
  if (match < 0) return false;
  const partner = data[side === "reference" ? "candidate" : "reference"][match];
  return partner.special || partner.match === index;
}

// Whether the penalty lowers the score because of the token.
function costs(data, token) {
  return token.counted && data.penalised && token.agreement < 1;
}

// The legend, limited to what occurs in this pair. onDemand: links are drawn for the chosen token alone.
function legendOf(data, onDemand, hasJumps) {
  const all = SIDES.flatMap((side) => data[side]).filter((token) => !token.special);
  const parts = [[say(data, data.unit === "word" ? "how-to-word" : "how-to-token")], [say(data, "shade", { ground: fixed(data, data.ground) })]];
  if (onDemand) parts.push([say(data, "on-demand")]);
  if (hasJumps) parts.push([say(data, "jumps")]);
  if (all.some((token) => token.low && !token.unknown)) parts.push([say(data, "dashed"), "warm"]);
  if (all.some((token) => token.unknown)) parts.push([say(data, "dotted"), "warm"]);
  if (data.names && all.some((token) => token.name)) parts.push([say(data, data.by_name ? "underlined-name" : "underlined-noun"), "warm"]);
  if (data.penalised && all.some((token) => token.counted)) parts.push([say(data, data.by_name ? "m-of-names" : "m"), "warm"]);
  if (all.some((token) => token.match_special)) parts.push([say(data, "ring")]);
  return parts.map(([text, name]) => [text.endsWith("。") ? text : `${text} `, name]);
}

// The best matches as the rows of a table: both tokens, their similarity, whose best match it is.
function matchRows(data, links) {
  return [...links].sort((a, b) => a.reference - b.reference || a.candidate - b.candidate).map((link) => [
    data.reference[link.reference].text, data.candidate[link.candidate].text, fixed(data, link.token.similarity),
    say(data, link.from.length === 2 ? "both" : link.from[0] === "candidate" ? "by-precision" : "by-recall"),
  ]);
}

function fixed(data, value) {
  return value === null ? say(data, "undefined") : value.toFixed(2);
}
