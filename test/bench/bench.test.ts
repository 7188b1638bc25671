/** That every row still runs and tells what it promises; its numbers say nothing here. */
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { formatReport, updateReport } from '../../bench/report/markdown.ts';
import { pictureOf } from '../../bench/report/picture.ts';
import { rows } from '../../bench/rows/index.ts';
import { compared, limited } from '../../bench/rows/row.ts';
import { alternate } from '../../bench/world/alternate.ts';
import { median, midMean, percentile } from '../../bench/world/statistics.ts';
import { startBenchWorld, type BenchWorld } from '../../bench/world/world.ts';

let world: BenchWorld;
before(async () => {
  world = await startBenchWorld();
});
// A product that goes on would work for all rows that follow.
afterEach(() => world.clear());
after(() => world.stop());

for (const row of rows) {
  test(`the benchmark ${row.id} runs in its short form`, async () => {
    const { figures } = await row.run(world, true);
    assert.ok(figures.length > 0);
    for (const { name, product, floor = 0 } of figures) assert.ok(Number.isFinite(product) && Number.isFinite(floor), name);
  });
}

test('a percentile is one of the values', () => {
  const values = [5, 1, 4, 2, 3];
  assert.deepEqual([median(values), percentile(values, 0.99), percentile([7], 0.5)], [3, 5, 7]);
});

test('the mean of the middle half ignores outliers', () => {
  assert.deepEqual([midMean([100, 2, 3, -90]), midMean([4, 8]), midMean([7])], [2.5, 6, 7]);
});

test('floor and product take turns at running first', async () => {
  const order: string[] = [];
  const side = (name: string) => () => Promise.resolve(order.push(name));
  const rounds = await alternate({ rounds: 2, warmUp: 1 }, side('floor'), side('product'));
  assert.deepEqual(order, ['floor', 'product', 'product', 'floor', 'floor', 'product']);
  assert.deepEqual(rounds, [
    { floor: 4, product: 3 },
    { floor: 5, product: 6 },
  ]);
});

test('a figure shows whether it reached its target', () => {
  const figure = { name: 'p50', unit: 'ms', floor: 10, product: 14 };
  assert.equal(compared(figure, { atMost: 1.5 }).reached, true);
  assert.equal(compared(figure, { atLeast: 1.5 }).reached, false);
  assert.equal(limited({ name: 'RSS', unit: 'MB', product: 200 }, { below: 200 }).reached, false);
});

test('the report shows each figure beside its floor, and what could not be measured', () => {
  const figures = [compared({ name: 'p50', unit: 'ms', floor: 10, product: 14 }, { atMost: 1.5 })];
  const { page, files } = formatReport({ Node: '24.21.0' }, '2026-11-21', [
    { row: { id: 'latency', title: 'One push.' }, result: { figures, raw: { times: [14.123] } }, seconds: 3 },
    { row: { id: 'start', title: 'A start.' }, result: { failed: 'no cluster' }, seconds: 1 },
  ]);
  assert.match(page, /- Node: 24\.21\.0/);
  assert.match(page, /\| p50 \| 10 ms \| 14 ms \| 1\.40 \| ≤ 1\.5 × floor \| yes \|/);
  assert.match(
    page,
    /!\[[^\]]+\]\(benchmarks\/latency\.svg\)\n\n\[Raw numbers\]\(benchmarks\/latency\.json\), measured in 3 s on 2026-11-21\.\n/,
  );
  assert.deepEqual([...files.keys()], ['latency.json', 'latency.svg']);
  assert.equal(files.get('latency.json'), '{"times":[14.12]}\n');
  assert.match(page, /Not measured: no cluster/);
});

test('an updated report replaces the parts that were measured again, and names the machine where it differs', () => {
  const one = (id: string, product: number) => ({
    row: { id, title: `About ${id}.` },
    result: { figures: [limited({ name: id, unit: 'ms', product }, { atMost: 50 })], raw: {} },
    seconds: 1,
  });
  const { page } = formatReport({ Machine: '2 × A', Node: '24.21.0' }, '2026-11-21', [one('latency', 11), one('start', 33)]);
  const again = updateReport(
    page,
    { Machine: '2 × B', Node: '24.21.0' },
    '2026-11-28',
    [one('burst', 22), one('start', 44)],
    ['latency', 'burst', 'start'],
  );
  assert.deepEqual([...again.page.matchAll(/^## (.*)$/gm)].map(([, title]) => title).slice(-3), ['latency', 'burst', 'start']);
  assert.equal(again.page.split('## latency')[0], page.split('## latency')[0]);
  assert.match(
    again.page,
    /\| latency \|[^\n]* 11 ms[^]*measured in 1 s on 2026-11-21\.\n[^]*\| burst \|[^\n]* 22 ms[^]*measured in 1 s on 2026-11-28, Machine: 2 × B\.\n/,
  );
  assert.match(again.page, /\| start \|[^\n]* 44 ms/);
  assert.doesNotMatch(again.page, / 33 ms/);
});

test('a picture shows floor and product as bars of one scale, with a text alternative', () => {
  const picture = pictureOf('One push.', [
    { name: 'p50 < p99', unit: 'ms', floor: 10, product: 20 },
    { name: 'memory', unit: 'MB', product: 60 },
  ]);
  const widths = [...(picture ?? '').matchAll(/class="(floor|product)"[^>]* width="([\d.]+)"/g)].map(([, kind, width]) => [
    kind,
    Number(width),
  ]);
  assert.deepEqual(widths, [
    ['floor', 155],
    ['product', 310],
  ]);
  assert.match(picture ?? '', /<title>One push\. p50 &lt; p99: floor 10 ms, product 20 ms<\/title>/);
  assert.equal(pictureOf('Memory.', [{ name: 'memory', unit: 'MB', product: 60 }]), undefined);
});
