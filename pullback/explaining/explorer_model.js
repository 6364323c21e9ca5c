// What the page knows: texts, equations, and which line belongs to which equation.
'use strict';
const DATA = JSON.parse(document.getElementById('data').textContent);

function integers(base64) {
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  return new Int32Array(bytes.buffer);
}

// For each key the values paired with it, in one array: keys[i] goes with values[i].
function grouped(keys, values, count) {
  const starts = new Int32Array(count + 1);
  for (const key of keys) starts[key + 1]++;
  for (let i = 0; i < count; i++) starts[i + 1] += starts[i];
  const at = starts.slice();
  const items = new Int32Array(values.length);
  keys.forEach((key, i) => { items[at[key]++] = values[i]; });
  return (key) => items.subarray(starts[key], starts[key + 1]);
}

const EQUATIONS = DATA.equations;
const COLUMNS = {};
for (const key of ['source', 'born', 'frame', 'primitive', 'trail', 'note', 'types', 'caller', 'name'])
  COLUMNS[key] = integers(EQUATIONS[key]);
const COUNT = COLUMNS.source.length;

const LEVELS = DATA.levels.map((level) => {
  const lines = level.text.split('\n');
  const rows = integers(level.rows);
  const equations = integers(level.equations);
  return {
    name: level.name,
    lines,
    of: grouped(rows, equations, lines.length),
    rowsOf: grouped(equations, rows, COUNT),
    costs: new Map(level.costs),
    most: level.costs.reduce((most, [, cost]) => Math.max(most, cost[0]), 0),
    inferred: new Set(level.inferred),
    files: level.files,
    hits: new Set(),
    found: new Set(),
    folded: new Map(),
  };
});

const word = (column, e) => EQUATIONS[`${column}_words`][COLUMNS[column][e]];

// The file and the line in it that a row of the Python level is.
function sourceLine(row) {
  let file = LEVELS[0].files[0];
  for (const next of LEVELS[0].files) if (next[1] <= row) file = next;
  return file ? { file: file[0], line: row - file[1] } : { file: '', line: 0 };
}

function sourceText(e) {
  const row = COLUMNS.source[e];
  if (row < 0) return 'no source line';
  const { file, line } = sourceLine(row);
  return `${file}:${line}`;
}

// Rows of every level that share an equation with row `row` of level `k`.
function linked(k, row) {
  const equations = LEVELS[k].of(row);
  return LEVELS.map((level, j) => {
    const rows = new Set();
    for (const e of equations) for (const r of level.rowsOf(e)) rows.add(r);
    if (j === k) rows.add(row);
    return rows;
  });
}

// A query's rows, by level. Words must all hold: text, prim:NAME, line:N, cost>N.
function searched(query) {
  const tests = query.trim().split(/\s+/).filter(Boolean).map(asTest);
  if (!tests.length) return LEVELS.map(() => new Set());
  return LEVELS.map((level, k) => {
    const rows = new Set();
    for (let i = 0; i < level.lines.length; i++)
      if (tests.every((test) => test(level, i, k))) rows.add(i);
    return rows;
  });
}

function asTest(text) {
  const [, key, value] = /^(prim:|line:|cost>)(.+)$/.exec(text) ?? [];
  if (key === 'prim:')
    return (level, i) => level.of(i).some((e) => word('primitive', e) === value);
  if (key === 'line:')
    return (level, i, k) => (k === 0 ? sourceLine(i).line === Number(value)
      : level.of(i).some((e) => COLUMNS.source[e] >= 0 && sourceLine(COLUMNS.source[e]).line === Number(value)));
  if (key === 'cost>')
    return (level, i) => (level.costs.get(i)?.[0] ?? 0) > Number(value);
  const small = text.toLowerCase();
  return (level, i) => level.lines[i].toLowerCase().includes(small);
}

function short(number) {
  for (const [size, unit] of [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']])
    if (number >= size) return `${(number / size).toPrecision(3)}${unit}`;
  return String(Math.round(number));
}
