// Drives the explorer in Chromium: node drive.mjs DIR [PICTURES]
// Needs playwright-core in NODE_PATH or beside this file; CHROMIUM names the browser.
import assert from 'node:assert/strict';
import path from 'node:path';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [folder, pictures] = process.argv.slice(2).map((p) => path.resolve(p));
const found = createRequire(path.join(process.env.NODE_DEPS ?? folder, 'x.js'));
const { chromium } = found('playwright-core');
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});

async function open(name) {
  const page = await browser.newPage({ viewport: { width: 1500, height: 800 } });
  const noise = [];
  const requests = [];
  page.on('console', (m) => noise.push(m.text()));
  page.on('pageerror', (e) => noise.push(String(e)));
  page.on('dialog', (d) => { noise.push('dialog'); d.dismiss(); });
  page.on('request', (r) => requests.push(r.url()));
  const url = pathToFileURL(path.join(folder, `${name}.html`)).href;
  const start = Date.now();
  await page.goto(url);
  await page.waitForFunction(() => document.querySelectorAll('.row').length > 0);
  return { page, noise, requests, url, took: Date.now() - start };
}

const pane = (k) => `.pane:nth-child(${k + 1})`;
const row = (page, k, text) => page.locator(`${pane(k)} .row`, { hasText: text }).first();
const marked = (page, k) => page.locator(`${pane(k)} .row.hit .text`).allTextContents();

async function hover(page, k, text) {
  const box = await row(page, k, text).locator('.text').boundingBox();
  await page.mouse.move(box.x + 30, box.y + 8);
}

async function quiet(opened) {
  assert.deepEqual(opened.noise, []);
  assert.deepEqual(opened.requests, [opened.url]);
}

async function check(name, work) {
  await work();
  console.log(`ok   ${name}`);
}

await check('hostile text and names stay text', async () => {
  const opened = await open('hostile');
  const { page } = opened;
  assert.equal(await page.title(), 'explain');
  assert.equal(await page.locator('img').count(), 0);
  await hover(page, 0, 'np.sin(x)');
  assert.ok((await marked(page, 1)).some((text) => text.includes('= sin')));
  await hover(page, 1, '= sin');
  assert.ok((await marked(page, 0)).some((text) => text.includes('np.sin(x)')));
  assert.equal(await page.title(), 'explain');
  assert.equal(await page.locator('img').count(), 0);
  await quiet(opened);
  await page.close();
});

await check('keys do what the pointer does', async () => {
  const opened = await open('hostile');
  const { page } = opened;
  await row(page, 0, 'def inner').click();
  await page.keyboard.press('ArrowDown');
  assert.ok((await marked(page, 1)).some((text) => text.includes('= sin')));
  await page.keyboard.press('ArrowRight');
  assert.ok((await marked(page, 0)).some((text) => text.includes('np.sin(x)')));
  await page.keyboard.press('Escape');
  assert.deepEqual(await marked(page, 0), []);
  await quiet(opened);
  await page.close();
});

await check('a click pins, and the address brings it back', async () => {
  const opened = await open('program');
  const { page } = opened;
  await row(page, 0, 'gap * gap').click();
  const before = await marked(page, 1);
  assert.ok(before.length >= 4);
  await hover(page, 0, 'np.tanh(x)');
  assert.deepEqual(await marked(page, 1), before);
  const url = page.url();
  assert.match(url, /#0:\d+$/);
  await page.reload();
  assert.deepEqual(await marked(page, 1), before);
  assert.match(await page.locator('#panel').innerText(), /transpose/);
  assert.match(await page.locator('#panel').innerText(), /born from/);
  if (pictures) await page.screenshot({ path: path.join(pictures, 'explorer.png') });
  await page.close();
});

await check('all four levels are linked both ways', async () => {
  const { page } = await open('program');
  await hover(page, 0, 'np.tanh(x)');
  for (const k of [1, 2, 3]) assert.ok((await marked(page, k)).length > 0, `pane ${k}`);
  await row(page, 3, ' dot(').click();
  assert.ok((await marked(page, 0)).some((text) => text.includes('np.dot(x, w) + b')));
  assert.match(await page.locator('#panel').innerText(), /flops/);
  await page.close();
});

await check('search by text, primitive, line and cost', async () => {
  const { page } = await open('program');
  for (const [query, least] of [['dot_general', 4], ['prim:tanh', 3], ['line:7', 5], ['cost>1000', 3]]) {
    await page.fill('#search', query);
    const said = await page.locator('#matches').innerText();
    assert.ok(Number.parseInt(said, 10) >= least, `${query}: ${said}`);
  }
  await page.fill('#search', 'no such text');
  assert.equal(await page.locator('#matches').innerText(), '0 lines');
  await page.close();
});

await check('panes close, bodies fold, frames of the library are folded', async () => {
  const { page } = await open('program');
  await page.locator('.toggle', { hasText: 'StableHLO' }).click();
  assert.equal(await page.locator('.pane:visible').count(), 3);
  const texts = async () => (await page.locator(`${pane(1)} .row .text`).allTextContents()).slice(0, 5).join();
  assert.match(await texts(), /dimension_numbers/);
  await page.locator(`${pane(1)} .fold`).first().click();
  assert.doesNotMatch(await texts(), /dimension_numbers/);
  await page.locator(`${pane(1)} .fold`).first().click();
  assert.match(await texts(), /dimension_numbers/);
  await row(page, 0, 'np.tanh(x)').click();
  assert.match(await page.locator('details summary').first().innerText(), /library/);
  await page.close();
});

await check('a difference is marked', async () => {
  const { page } = await open('difference');
  assert.ok((await page.locator('.row.added').count()) > 0);
  await page.close();
});

await check('on paper source and program stand together', async () => {
  const { page } = await open('program');
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  assert.match(await page.locator('#paper').textContent(), /np\.tanh\(x\)\n\s+jaxpr \d+: /);
  await page.close();
});

await check('100,000 equations', async () => {
  const opened = await open('large');
  const { page } = opened;
  console.log(`     opens in ${opened.took} ms`);
  assert.ok(opened.took <= Number(process.env.OPEN_MS ?? 2000));
  const took = await page.evaluate(async () => {
    const line = [...document.querySelectorAll('.pane:nth-child(2) .row')][5];
    const start = performance.now();
    line.dispatchEvent(new MouseEvent('mouseover', { bubbles: true }));
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    return performance.now() - start;
  });
  console.log(`     answers a hover in ${took.toFixed(0)} ms`);
  assert.ok(took <= Number(process.env.HOVER_MS ?? 100));
  assert.ok((await page.locator('*').count()) < 1000);
  await page.evaluate(() => { PANES[1].scroller.scrollTop = 1e9; });
  await page.waitForTimeout(200);
  assert.match((await page.locator(`${pane(1)} .row .text`).allTextContents()).at(-1), /in \(/);
  await quiet(opened);
  await page.close();
});

await browser.close();
