// Judges every map in a folder by both npm libraries: node judge.mjs DIR
// Both must decode as many segments, find the same places, and these must exist.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';

const folder = path.resolve(process.argv[2]);
const found = createRequire(path.resolve(process.env.NODE_DEPS ?? folder, 'x.js'));
const mozilla = found('source-map');
const ridge = found('@jridgewell/trace-mapping');

async function judge(file) {
  const map = JSON.parse(fs.readFileSync(file, 'utf8'));
  const text = fs.readFileSync(file.replace(/(\.level)?\.map$/, ''), 'utf8').split('\n');
  const traced = new ridge.TraceMap(map);
  const consumer = await new mozilla.SourceMapConsumer(map);
  const contents = map.sourcesContent.map((source) => source.split(/\r\n|\n|\r/));
  const theirs = [];
  consumer.eachMapping((m) => theirs.push(m));
  const rows = ridge.decodedMappings(traced);
  const all = rows.flatMap((row, line) => row.map((segment) => [line, segment]));
  assert.equal(theirs.length, all.length);
  assert.ok(rows.length <= text.length);
  const step = Math.ceil(all.length / 5000); // of a large map, a sample
  for (const [line, [column, source, original, place, name]] of all.filter((_, i) => i % step === 0)) {
    assert.ok(column <= text[line].length, `column ${column} of line ${line}`);
    const at = { line: line + 1, column };
    const one = ridge.originalPositionFor(traced, at);
    const other = consumer.originalPositionFor(at);
    assert.equal(one.line, other.line);
    assert.equal(one.column, other.column);
    if (source === undefined) { assert.equal(one.source, null); continue; }
    assert.deepEqual([one.source, one.line, one.column], [map.sources[source], original + 1, place]);
    assert.equal(one.name, name === undefined ? null : map.names[name]);
    const content = contents[source];
    assert.ok(place <= content[original].length, `column ${place} of ${original}`);
  }
  consumer.destroy();
  console.log(`valid ${path.basename(file)}: ${all.length} mappings`);
}

const maps = fs.readdirSync(folder).filter((name) => name.endsWith('.map'));
assert.ok(maps.length > 0);
for (const name of maps.sort()) await judge(path.join(folder, name));
