// The page: pointer, keys, search, the panel that tells of one equation, the address.
const STATE = { pane: -1, row: -1, pinned: false };
const $ = (id) => document.getElementById(id);
const PANES = LEVELS.map((level, k) => new Pane(level, k));

function show(k, row, { pin = false, follow = true } = {}) {
  STATE.pane = k;
  STATE.row = row;
  const sets = linked(k, row);
  LEVELS.forEach((level, j) => { level.hits = sets[j]; });
  PANES.forEach((pane, j) => {
    pane.at = undefined;
    if (follow && j !== k) pane.follow();
    pane.refresh();
    pane.drawMarks();
  });
  describe(k, row);
  if (pin) {
    STATE.pinned = true;
    history.replaceState(null, '', `#${k}:${row + 1}`);
  }
}

function free() {
  STATE.pinned = false;
  STATE.pane = STATE.row = -1;
  for (const level of LEVELS) level.hits = new Set();
  for (const pane of PANES) { pane.refresh(); pane.drawMarks(); }
  history.replaceState(null, '', '#');
  $('panel').replaceChildren();
}

function fact(name, value) {
  const row = element('p');
  row.append(element('b', '', `${name} `), element('span', '', value));
  return row;
}

function stack(e) {
  const box = element('div', 'stack');
  let number = COLUMNS.frame[e];
  let library = [];
  const flush = () => {
    if (!library.length) return;
    const fold = element('details');
    fold.append(element('summary', '', `${library.length} library frames`));
    for (const frame of library) fold.append(element('div', 'library', said(frame)));
    box.append(fold);
    library = [];
  };
  for (; number >= 0; number = DATA.frames[number].parent) {
    const frame = DATA.frames[number];
    if (frame.library) { library.push(frame); continue; }
    flush();
    box.append(element('div', 'frame', said(frame)));
  }
  flush();
  return box;
}

const said = (frame) => `${frame.function}  ${frame.file}:${frame.line}`;

function describe(k, row) {
  const level = LEVELS[k];
  const panel = $('panel');
  const parts = [];
  const equations = [...level.of(row)];
  const cost = level.costs.get(row);
  if (cost) parts.push(fact('cost', `${short(cost[0])} flops, ${short(cost[1])} transcendental, ${short(cost[2])} bytes (estimated)`));
  if (level.inferred.has(row)) parts.push(fact('inferred', 'XLA gave this line no place; its neighbours did'));
  if (k > 0 && equations.length > 1)
    parts.push(fact(k === 3 ? 'fused' : 'holds', `${equations.length} equations`));
  for (const e of equations.slice(0, 40)) {
    const box = element('div', 'equation');
    box.append(element('h3', '', `${word('name', e)} ${word('primitive', e)}`), fact('at', sourceText(e)), fact('types', word('types', e)));
    if (word('trail', e)) box.append(fact('made by', word('trail', e)));
    const born = COLUMNS.born[e];
    if (born >= 0) box.append(fact('born from', `${word('primitive', born)} at ${sourceText(born)}`));
    if (word('note', e)) box.append(fact('note', word('note', e)));
    box.append(stack(e));
    parts.push(box);
  }
  if (equations.length > 40) parts.push(fact('and', `${equations.length - 40} more`));
  panel.replaceChildren(...parts);
}

function search(query) {
  const found = searched(query);
  let total = 0;
  LEVELS.forEach((level, k) => { level.found = found[k]; total += found[k].size; });
  $('matches').textContent = query.trim() ? `${total} lines` : '';
  for (const pane of PANES) { pane.at = undefined; pane.refresh(); pane.drawMarks(); }
  return total;
}

function rowOf(event) {
  const row = event.target.closest?.('.row');
  return row ? Number(row.dataset.i) : -1;
}

function listen(pane, k) {
  pane.space.addEventListener('mouseover', (event) => {
    const row = rowOf(event);
    if (row >= 0 && !STATE.pinned) show(k, row);
  });
  pane.space.addEventListener('click', (event) => {
    const row = rowOf(event);
    if (event.target.className === 'fold') pane.fold(row);
    else if (row >= 0) show(k, row, { pin: true });
    pane.box.focus();
  });
}

function visible() {
  return PANES.filter((pane) => !pane.box.hidden);
}

function move(by) {
  const k = STATE.pane < 0 ? 0 : STATE.pane;
  const pane = PANES[k];
  const at = STATE.row < 0 ? -1 : pane.position(STATE.row);
  const next = pane.shown[Math.min(pane.shown.length - 1, Math.max(0, at + by))];
  show(k, next, { pin: STATE.pinned });
  pane.reveal(next);
  pane.refresh();
}

function side(by) {
  const panes = visible();
  const at = panes.findIndex((pane) => pane.k === STATE.pane);
  const pane = panes[(at + by + panes.length) % panes.length];
  const rows = [...pane.level.hits].sort((a, b) => a - b);
  pane.box.focus();
  const row = rows.length ? rows[0] : 0;
  show(pane.k, row, { pin: STATE.pinned });
  pane.reveal(row);
}

const KEYS = {
  ArrowDown: () => move(1),
  ArrowUp: () => move(-1),
  PageDown: () => move(30),
  PageUp: () => move(-30),
  ArrowRight: () => side(1),
  ArrowLeft: () => side(-1),
  Enter: () => { if (STATE.pane >= 0) show(STATE.pane, STATE.row, { pin: true }); },
  Escape: free,
  '/': () => $('search').focus(),
  n: () => visible().forEach((pane) => pane.step(1)),
  N: () => visible().forEach((pane) => pane.step(-1)),
};

document.addEventListener('keydown', (event) => {
  if (event.target === $('search')) {
    if (event.key === 'Escape') { $('search').blur(); free(); }
    return;
  }
  const act = KEYS[event.key];
  if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  act();
});

// On paper: every source line, and under it the lines that come from it.
function interleaved() {
  const rows = [];
  LEVELS[0].lines.slice(0, 5000).forEach((line, i) => {
    rows.push(line);
    if (!LEVELS[0].of(i).length) return;
    const sets = linked(0, i);
    LEVELS.forEach((level, k) => {
      if (k > 0) for (const r of sets[k]) rows.push(`        ${level.name} ${r + 1}: ${level.lines[r].trim()}`);
    });
  });
  return rows.join('\n');
}

function start() {
  LEVELS.forEach((level, k) => {
    const toggle = element('button', 'toggle on', level.name);
    toggle.addEventListener('click', () => {
      PANES[k].box.hidden = !PANES[k].box.hidden;
      toggle.classList.toggle('on', !PANES[k].box.hidden);
      for (const pane of PANES) { pane.draw(); pane.drawMarks(); }
    });
    $('levels').append(toggle);
    $('panes').append(PANES[k].box);
    PANES[k].findFolds();
    listen(PANES[k], k);
  });
  if (DATA.added) {
    const added = new Set(DATA.added);
    for (const level of LEVELS) {
      level.added = new Set();
      level.lines.forEach((_, i) => { if (level.of(i).some((e) => added.has(e))) level.added.add(i); });
    }
    for (const text of DATA.gone) $('gone').append(element('div', '', text));
  }
  for (const pane of PANES) { pane.draw(); pane.drawMarks(); }
  $('search').addEventListener('input', (event) => search(event.target.value));
  addEventListener('resize', () => PANES.forEach((pane) => { pane.draw(); pane.drawMarks(); }));
  addEventListener('beforeprint', () => { $('paper').textContent = interleaved(); });
  const [, k, row] = /^#(\d+):(\d+)$/.exec(location.hash) ?? [];
  if (k && LEVELS[k] && row <= LEVELS[k].lines.length) {
    show(Number(k), row - 1, { pin: true });
    PANES[k].reveal(row - 1);
    PANES[k].refresh();
  }
}

start();
