// One pane a level. Only rows in sight exist; hovering toggles classes and never
// builds rows, so that what is under the pointer stays there.
const HEIGHT = 17;
const TALLEST = 8e6; // browsers cap the height of elements
const SPARE = 8;

function element(name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

class Pane {
  constructor(level, k) {
    this.level = level;
    this.k = k;
    this.shown = level.lines.map((_, i) => i); // rows that no fold hides
    this.box = element('section', 'pane');
    this.box.tabIndex = 0;
    this.box.setAttribute('aria-label', level.name);
    const head = element('header');
    this.count = element('span', 'count');
    const before = element('button', '', '▲');
    const next = element('button', '', '▼');
    before.title = 'previous linked line';
    next.title = 'next linked line';
    before.addEventListener('click', () => this.step(-1));
    next.addEventListener('click', () => this.step(1));
    head.append(element('b', '', level.name), this.count, before, next);
    this.scroller = element('div', 'scroller');
    this.space = element('div', 'space');
    this.marks = element('canvas', 'marks');
    this.marks.width = 10;
    this.scroller.append(this.space);
    this.box.append(head, this.scroller, this.marks);
    this.top = 0;
    this.resize();
    this.scroller.addEventListener('scroll', () => {
      if (!this.waiting) requestAnimationFrame(() => { this.waiting = false; this.draw(); });
      this.waiting = true;
    });
  }

  resize() {
    this.tall = Math.min(TALLEST, this.shown.length * HEIGHT);
    this.space.style.height = `${this.tall}px`;
  }

  // How many text pixels one pixel of the scroll bar stands for.
  scale() {
    const room = this.scroller.clientHeight;
    const total = this.shown.length * HEIGHT - room;
    return Math.max(1, total / Math.max(1, this.tall - room));
  }

  window() {
    const top = this.scroller.scrollTop * this.scale();
    const first = Math.max(0, Math.floor(top / HEIGHT) - SPARE);
    const last = Math.min(this.shown.length,
      Math.ceil((top + this.scroller.clientHeight) / HEIGHT) + SPARE);
    return { top, first, last };
  }

  draw() {
    const { top, first, last } = this.window();
    const rows = document.createDocumentFragment();
    for (let at = first; at < last; at++) {
      const row = this.row(this.shown[at]);
      row.style.top = `${this.scroller.scrollTop + at * HEIGHT - top}px`;
      rows.append(row);
    }
    this.space.replaceChildren(rows);
  }

  row(i) {
    const level = this.level;
    const row = element('div');
    row.dataset.i = i;
    row.className = this.classes(i);
    const number = this.k === 0 ? sourceLine(i).line || '' : i + 1;
    const cost = level.costs.get(i);
    const price = element('span', 'cost', cost ? short(cost[0]) : '');
    if (cost && level.most) price.style.opacity = String(0.3 + 0.7 * (cost[0] / level.most));
    if (cost) price.title = `${cost[0]} flops, ${cost[2]} bytes (estimated)`;
    const text = element('span', 'text', level.lines[i]);
    const owner = level.of(i)[0];
    const source = this.k === 0 ? (level.of(i).length ? i : -1) : owner === undefined ? -1 : COLUMNS.source[owner];
    if (source >= 0) text.style.borderLeftColor = `hsl(${(source * 137) % 360} 60% 50%)`;
    row.append(element('span', 'number', number), ...(level.costs.size ? [price] : []), text);
    if (level.folds?.has(i)) {
      const fold = element('span', 'fold', level.folded.has(i) ? '▸' : '▾');
      row.prepend(fold);
    }
    return row;
  }

  classes(i) {
    const level = this.level;
    let names = 'row';
    if (level.hits.has(i)) names += ' hit';
    if (level.found.has(i)) names += ' found';
    if (level.inferred.has(i)) names += ' inferred';
    if (level.added?.has(i)) names += ' added';
    if (STATE.pane === this.k && STATE.row === i) names += ' here';
    if (this.k === 0 && level.files.some((file) => file[1] === i)) names += ' file';
    return names;
  }

  refresh() {
    for (const row of this.space.children) row.className = this.classes(Number(row.dataset.i));
    this.count.textContent = this.level.hits.size ? `${this.level.hits.size} linked` : '';
  }

  // Where row `i` is among those shown; a hidden one stands at its fold.
  position(i) {
    if (this.shown.length === this.level.lines.length) return i;
    let low = 0;
    let high = this.shown.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.shown[middle] <= i) low = middle; else high = middle - 1;
    }
    return low;
  }

  reveal(i) {
    const { top } = this.window();
    const y = this.position(i) * HEIGHT;
    const room = this.scroller.clientHeight;
    if (y >= top && y + HEIGHT <= top + room) return;
    this.scroller.scrollTop = Math.max(0, y - room / 2) / this.scale();
    this.draw();
  }

  // Bring the linked row nearest to what is in sight into sight.
  follow() {
    const { top } = this.window();
    const middle = (top + this.scroller.clientHeight / 2) / HEIGHT;
    let best = -1;
    for (const i of this.level.hits)
      if (best < 0 || Math.abs(this.position(i) - middle) < Math.abs(this.position(best) - middle)) best = i;
    if (best >= 0) this.reveal(best);
  }

  step(by) {
    const rows = [...(this.level.found.size ? this.level.found : this.level.hits)].sort((a, b) => a - b);
    if (!rows.length) return;
    this.at = ((this.at ?? (by > 0 ? -1 : 0)) + by + rows.length) % rows.length;
    this.reveal(rows[this.at]);
    this.count.textContent = `${this.at + 1} of ${rows.length}`;
  }

  drawMarks() {
    const canvas = this.marks;
    canvas.height = Math.max(1, this.scroller.clientHeight);
    const pen = canvas.getContext('2d');
    const put = (rows, colour) => {
      pen.fillStyle = colour;
      const scale = canvas.height / this.shown.length;
      const drawn = new Set();
      for (const i of rows) {
        const y = Math.floor(this.position(i) * scale);
        if (!drawn.has(y)) pen.fillRect(0, y, 10, 2);
        drawn.add(y);
      }
    };
    put(this.level.found, '#b58900');
    put(this.level.hits, '#d33682');
  }

  // Bodies of jaxprs and computations: from a line that opens one to where it closes.
  findFolds() {
    const level = this.level;
    level.folds = new Map();
    if (this.k === 0) return;
    const open = [];
    level.lines.forEach((line, i) => {
      const depth = line.length - line.trimStart().length;
      while (open.length && open[open.length - 1][0] >= depth && line.trim()) {
        const [, start] = open.pop();
        if (i - start > 2) level.folds.set(start, i - 1);
      }
      if (/[{([]$|let$/.test(line)) open.push([depth, i]);
    });
  }

  fold(i) {
    const level = this.level;
    if (level.folded.has(i)) level.folded.delete(i); else level.folded.set(i, level.folds.get(i));
    this.shown = [];
    for (let row = 0; row < level.lines.length; row++) {
      this.shown.push(row);
      if (level.folded.has(row)) row = level.folded.get(row);
    }
    this.resize();
    this.draw();
  }
}
