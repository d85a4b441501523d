// Long pairs cut into segments that fit the width, as `printed/segments.py` cuts them on paper. Numbers alone.

const SEGMENT_COST = 2; // a further segment is worth it where it keeps more than two links together
const BAND = 24; // how many tokens a cut of the candidate may be away from the same share of the reference
const SHORTEST_SHARE = 0.4; // of what fits into a line, where a segment may end

// [[[start, end] of the reference, [start, end] of the candidate], …]; one segment where both fit into `room`.
// widths: of the tokens of both sides, with the gap beside each. links: [reference, candidate] indices. inside: whether a
// token goes on with the word of the one before it.
function segmentsOf(widths, links, room, inside = [[], []]) {
  const [n, m] = widths.map((side) => side.length);
  const ends = widths.map((side, number) => endsOf(side, room, inside[number]));
  const at = (i, j) => i * (m + 1) + j;
  const together = new Int32Array((n + 1) * (m + 1)); // links among the first i and the first j tokens
  for (const [reference, candidate] of links) together[at(reference + 1, candidate + 1)] += 1;
  for (let i = 0; i <= n; i += 1) for (let j = 1; j <= m; j += 1) together[at(i, j)] += together[at(i, j - 1)];
  for (let i = 1; i <= n; i += 1) for (let j = 0; j <= m; j += 1) together[at(i, j)] += together[at(i - 1, j)];
  const best = new Float64Array((n + 1) * (m + 1)).fill(Infinity);
  const before = new Int32Array((n + 1) * (m + 1)).fill(-1);
  best[0] = 0;
  for (let i = 0; i <= n; i += 1) {
    for (let j = 0; j <= m; j += 1) {
      if (best[at(i, j)] === Infinity || at(i, j) === at(n, m)) continue;
      for (const k of ends[0][i]) {
        for (const last of ends[1][j]) {
          if ((k === i && last === j) || (Math.abs(last - (m * k) / Math.max(n, 1)) > BAND && at(k, last) !== at(n, m))) continue;
          const kept = together[at(k, last)] - together[at(i, last)] - together[at(k, j)] + together[at(i, j)];
          const total = best[at(i, j)] + SEGMENT_COST - kept;
          if (total < best[at(k, last)]) {
            best[at(k, last)] = total;
            before[at(k, last)] = at(i, j);
          }
        }
      }
    }
  }
  return best[at(n, m)] === Infinity ? fullLines(ends, n, m) : path(before, m, at(n, m));
}

// For each start the ends that a line may have: none further, and from SHORTEST_SHARE of a full line to all of it. Those
// within a word are left out; where there are no others, the last end of a word before them stands for them.
function endsOf(widths, room, inside) {
  return Array.from({ length: widths.length + 1 }, (_, start) => {
    let full = start;
    for (let used = 0; full < widths.length && used + widths[full] <= room + 1e-9; full += 1) used += widths[full];
    full = Math.min(widths.length, Math.max(full, start + 1));
    const shortest = start + Math.max(1, Math.ceil(SHORTEST_SHARE * (full - start)));
    const every = Array.from({ length: full - start }, (_, index) => start + 1 + index);
    const whole = every.filter((end) => end === widths.length || !inside[end]);
    const wanted = whole.filter((end) => end >= shortest);
    if (wanted.length) return [start, ...wanted];
    return [start, ...(whole.length ? whole.slice(-1) : every.filter((end) => end >= shortest))];
  });
}

function path(before, m, last) {
  const cuts = [];
  for (let end = last; before[end] >= 0; end = before[end]) {
    const [i, j, k, l] = [before[end], end].flatMap((state) => [Math.floor(state / (m + 1)), state % (m + 1)]);
    cuts.unshift([[i, k], [j, l]]);
  }
  return cuts;
}

// Full lines of both sentences one below the other, where no cut lies within the band.
function fullLines(ends, n, m) {
  const cuts = [];
  for (let [i, j] = [0, 0]; i < n || j < m; ) {
    const [k, l] = [ends[0][i].at(-1), ends[1][j].at(-1)];
    cuts.push([[i, k], [j, l]]);
    [i, j] = [k, l];
  }
  return cuts;
}
