import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { formatBases, summarize } from '../../../src/bases/commands/bases/report.ts';
import type { JudgedImage } from '../../../src/bases/commands/bases/resolve-images.ts';

const digest = (digit: string) => `sha256:${digit.repeat(64)}`;
const base = { registry: 'harbor.example.com', path: 'library/base-java' };
const selected = { tag: '21.0.2', digest: digest('2'), created: '2026-03-01T12:00:00.000Z' };
const now = new Date('2026-03-04T12:00:00Z');

const repository = 'harbor.example.com/library/base-java';
const image = (name: string, ...workloads: string[]): JudgedImage['image'] => ({
  name: `harbor.example.com/shop/${name}`,
  source: { registry: 'harbor.example.com', path: 'shop/web' },
  digest: digest('a'),
  workloads,
});
const examined: readonly JudgedImage[] = [
  {
    image: image('api:2', 'Deployment shop/api'),
    recognition: { kind: 'recognized', base: { repository, tags: [selected.tag], digest: selected.digest }, by: 'Annotation' },
    state: 'Current',
  },
  {
    image: image('web:10', 'Deployment shop/web', 'StatefulSet shop/web'),
    recognition: { kind: 'recognized', base: { repository, tags: ['21.0.1'], digest: digest('1') }, by: 'Layers' },
    state: 'Behind',
  },
  {
    image: image('web:9', 'CronJob shop/report'),
    recognition: { kind: 'recognized', base: { repository, tags: [], digest: digest('0') }, by: 'Buildpacks' },
    state: 'Behind',
  },
  {
    image: image('odd:1', 'Deployment shop/odd'),
    recognition: { kind: 'unknown', reason: 'a\u001B[31m reason that is red' },
    state: 'Unknown',
  },
  { image: image('other:1', 'Deployment shop/other'), recognition: { kind: 'unrelated' }, state: undefined },
];
const report = summarize(base, { selected, judged: examined, uncompared: 0 });
const show = (view: { columns?: number; isWide?: boolean }) =>
  formatBases(report, { isWide: view.isWide ?? false, now }, { columns: view.columns, out: assert.fail, err: assert.fail });
const counts = '5 images, 2 behind, 1 unknown, 1 not built on it\n';

test('the report about a base shows images that are behind first, in natural order, and only counts unrelated images', () => {
  assert.equal(
    show({ columns: 140 }),
    `selected base: harbor.example.com/library/base-java:21.0.2 (sha256:222222222222, created 3d ago)

IMAGE                           WORKLOADS                  BASE                 STATE    BEHIND SINCE  RECOGNIZED BY
harbor.example.com/shop/web:9   1: CronJob shop/report     sha256:000000000000  Behind   3d            Buildpacks
harbor.example.com/shop/web:10  2: Deployment shop/web, …  21.0.1               Behind   3d            Layers
harbor.example.com/shop/odd:1   1: Deployment shop/odd     -                    Unknown  -             -
harbor.example.com/shop/api:2   1: Deployment shop/api     21.0.2               Current  -             Annotation

${counts}`,
  );
});

test('docs/base-images.md shows the report about a base as it is printed', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/base-images.md'), 'utf8');
  assert.ok(page.includes(`\`\`\`text\n${show({ columns: 140 })}\`\`\``));
});

test('the report about a base shows workloads below their images on a narrow terminal, without too long lines', () => {
  const lines = show({ columns: 100 }).split('\n');
  assert.ok(lines.every(({ length }) => length <= 100));
  assert.equal(lines[4], '  1: CronJob shop/report');
});

test('the wide report about a base shows all workloads, digests and reasons, without control characters', () => {
  const text = show({ isWide: true });
  assert.match(text, /Deployment shop\/web, StatefulSet shop\/web/);
  assert.match(text, /\n {2}a\\u\{1b\}\[31m reason that is red\n/);
  assert.match(text, / sha256:aaaaaaaaaaaa /);
});

test('the report about a base for programs has every field', () => {
  assert.deepEqual(report.base, { repository, ...selected });
  assert.deepEqual(report.images[1], {
    image: 'harbor.example.com/shop/web:10',
    digest: digest('a'),
    state: 'Behind',
    base: { tag: '21.0.1', digest: digest('1') },
    behindSince: selected.created,
    recognizedBy: 'Layers',
    workloads: ['Deployment shop/web', 'StatefulSet shop/web'],
  });
  assert.deepEqual(report.images[2]?.reason, 'a\u001B[31m reason that is red');
  assert.deepEqual(report.summary, {
    images: 5,
    current: 1,
    behind: 2,
    otherLine: 0,
    unknown: 1,
    unrelated: 1,
    uncomparedTags: 0,
  });
});

test('the report about a base has no table if no image is built on it', () => {
  const none = summarize(base, { selected: { tag: '1', digest: digest('2') }, judged: examined.slice(4), uncompared: 30 });
  assert.equal(
    formatBases(none, { isWide: false, now }, { out: assert.fail, err: assert.fail }),
    `selected base: ${repository}:1 (sha256:222222222222)\n1 image, 0 behind, 0 unknown, 1 not built on it\n30 tags of the base not compared: see --tags\n`,
  );
});
