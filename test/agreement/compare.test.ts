/** The comparison finds each contradiction that is made up here, and none where all say the same. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compare, type Views } from './compare.ts';
import type { Truth } from './truth.ts';

const image = (tag: string) => `registry.example.com/shop/web:${tag}`;
const truth: Truth = { tags: new Map([['1.0.0', 1]]), images: [image('1.0.0')], recorded: [], wanted: '1.1.0', why: ['Window'] };
const row = { running: '1.0.0', wanted: '1.1.0', ready: 'False', reason: 'Window' };
const views: Views = {
  kubectl: row,
  status: { images: [image('1.0.0')], changedTo: [] },
  cli: row,
  api: { state: 'Waiting', running: '1.0.0', wanted: '1.1.0', reason: 'Window', message: 'opens at 22:00' },
  places: [{ image: image('1.0.0'), tag: '1.0.0', wants: '1.1.0', state: 'Behind' }],
  page: { state: 'Waiting', running: '1.0.0', wanted: '1.1.0', why: 'opens at 22:00' },
  metric: { reason: 'Window', ready: false },
  events: ['Updated', 'Window'],
  explain: { allowed: false, reasons: ['Window'] },
  record: { outcome: 'waiting', reason: 'Window', tag: '1.1.0', changes: [] },
};
const ready = { running: '1.1.0', wanted: '1.1.0', ready: 'True', reason: 'UpToDate' };
const inOrder: Views = {
  ...views,
  kubectl: ready,
  cli: ready,
  status: { images: [image('1.1.0')], changedTo: [image('1.1.0')] },
  api: { state: 'Ready', running: '1.1.0', wanted: '1.1.0', reason: 'UpToDate', message: 'runs 1.1.0' },
  places: [{ image: image('1.1.0'), tag: '1.1.0', wants: '1.1.0', state: 'Current' }],
  page: { state: 'Ready', running: '1.1.0', wanted: '1.1.0' },
  metric: { reason: 'UpToDate', ready: true },
  explain: { allowed: true, reasons: ['UpToDate'] },
  record: { outcome: 'updated', reason: 'Updated', tag: '1.1.0', changes: [image('1.1.0')] },
};
const upToDate: Truth = {
  tags: new Map([['1.1.0', 1]]),
  images: [image('1.1.0')],
  recorded: [image('1.1.0')],
  wanted: '1.1.0',
  why: undefined,
};

test('the comparison finds no difference where all views agree', () => {
  assert.deepEqual(compare(truth, views), []);
  assert.deepEqual(compare(upToDate, inOrder), []);
});

for (const [what, expected, changed] of [
  ['kubectl shows another image', /^kubectl: RUNNING is 0\.9\.0, not 1\.0\.0$/, { kubectl: { ...row, running: '0.9.0' } }],
  ['the command shows another image', /^CLI: RUNNING is 0\.9\.0/, { cli: { ...row, running: '0.9.0' } }],
  ['the command shows no such policy', /^CLI: RUNNING is missing/, { cli: undefined }],
  [
    'the API shows nothing that runs',
    /^API: running is <none>/,
    { api: { state: 'Waiting', wanted: '1.1.0', reason: 'Window', message: 'opens at 22:00' } },
  ],
  [
    'the page shows another image',
    /^page: running is 1\.1\.0/,
    { page: { state: 'Waiting', running: '1.1.0', wanted: '1.1.0', why: 'opens at 22:00' } },
  ],
  ['the API lists no container', /^images is empty, not .*:1\.0\.0$/, { places: [] }],
  [
    'the API lists another image',
    /^images is .*:0\.9\.0, not/,
    { places: [{ image: image('0.9.0'), tag: '0.9.0', wants: '1.1.0', state: 'Behind' }] },
  ],
  [
    'a container is listed with another image that is wanted',
    /^images: of .*, what is wanted is 1\.2\.0, not 1\.1\.0$/,
    { places: [{ image: image('1.0.0'), tag: '1.0.0', wants: '1.2.0', state: 'Behind' }] },
  ],
  [
    'a container that is behind is listed as current',
    /^images: .*:1\.0\.0 is Current, and 1\.1\.0 is wanted$/,
    { places: [{ image: image('1.0.0'), tag: '1.0.0', wants: '1.1.0', state: 'Current' }] },
  ],
  ['the status lists another image', /^status\.targets is .*:0\.9\.0, not/, { status: { images: [image('0.9.0')], changedTo: [] } }],
  ['kubectl wants another image', /^kubectl: LATEST is 1\.2\.0, not 1\.1\.0$/, { kubectl: { ...row, wanted: '1.2.0' } }],
  [
    'the page wants nothing',
    /^page: latest is empty, not 1\.1\.0$/,
    { page: { state: 'Waiting', running: '1.0.0', wanted: '–', why: 'opens at 22:00' } },
  ],
  ['kubectl names another reason', /^kubectl: REASON is Held, and the cluster says Window$/, { kubectl: { ...row, reason: 'Held' } }],
  ['the command names another reason', /^CLI: REASON is Held, not Window$/, { cli: { ...row, reason: 'Held' } }],
  ['the metric names another reason', /^metric: reason is Held/, { metric: { reason: 'Held', ready: false } }],
  ['there is no metric', /^metric: reason is missing/, { metric: undefined }],
  ['the metric says that it is Ready', /^metric: value is true/, { metric: { reason: 'Window', ready: true } }],
  [
    'the page shows another state',
    /^page: state is held, not waiting$/,
    { page: { state: 'Held', running: '1.0.0', wanted: '1.1.0', why: 'opens at 22:00' } },
  ],
  [
    'the page does not say why',
    /^page: says "", and the API "opens at 22:00"$/,
    { page: { state: 'Waiting', running: '1.0.0', wanted: '1.1.0' } },
  ],
  ['no Event says why', /^Events: none has the reason Window$/, { events: ['Updated'] }],
  ['explain says that nothing is in the way', /^explain: says that nothing/, { explain: { allowed: true, reasons: ['Window'] } }],
  ['explain does not name the reason', /^explain: names Held, and not Window$/, { explain: { allowed: false, reasons: ['Held'] } }],
  ['the record knows of no policy', /^record: the push is unwatched$/, { record: { outcome: 'unwatched', changes: [] } }],
  [
    'the record says that it runs',
    /^record: unchanged UpToDate, and the policy Window$/,
    { record: { outcome: 'unchanged', reason: 'UpToDate', tag: '1.1.0', changes: [] } },
  ],
  [
    'the record tells of another change',
    /^record: the push changed a container to .*:1\.1\.0, which does not run$/,
    { record: { outcome: 'updated', changes: [image('1.1.0')] } },
  ],
] as const satisfies readonly (readonly [what: string, expected: RegExp, changed: Partial<Views>])[]) {
  test(`the comparison finds that ${what}`, () => {
    assert.ok(
      compare(truth, { ...views, ...changed }).some((difference) => expected.test(difference)),
      compare(truth, { ...views, ...changed }).join('\n'),
    );
  });
}

test('the comparison finds that all views report the update as done while the older image runs', () => {
  const older = { running: '1.0.0', wanted: '1.1.0', ready: 'True', reason: 'UpToDate' };
  const said = { ...inOrder, kubectl: older, cli: older, api: { ...inOrder.api, state: 'Ready', running: '1.0.0' } };
  const found = compare({ ...truth, why: undefined }, said);
  assert.ok(found.includes('all say UpToDate, and 1.0.0 runs instead of 1.1.0'), found.join('\n'));
  assert.deepEqual(compare({ ...truth, wanted: 'unknown', why: undefined }, views), []);
});

test('the comparison accepts a running image that is newer than the selected one', () => {
  const newer = { ...ready, running: '2.0.0' };
  const said = { ...inOrder, kubectl: newer, cli: newer, status: { images: [image('2.0.0')], changedTo: [] } };
  const views = {
    ...said,
    api: { ...inOrder.api, state: 'Ready', running: '2.0.0' },
    page: { state: 'Ready', running: '2.0.0', wanted: '1.1.0' },
    places: [{ image: image('2.0.0'), tag: '2.0.0', wants: '1.1.0', state: 'Kept' }],
  };
  const { record: _, ...rest } = views;
  assert.deepEqual(compare({ ...truth, tags: new Map([['2.0.0', 1]]), images: [image('2.0.0')], why: undefined }, rest), []);
});

test('the comparison finds that the history lacks a change that the workload records', () => {
  assert.deepEqual(compare(upToDate, { ...inOrder, status: { images: [image('1.1.0')], changedTo: [] } }), [
    `status.history lacks the change to ${image('1.1.0')} that the workload records`,
  ]);
});

test('the comparison accepts the same short form of several tags in every view', () => {
  const many: Truth = {
    ...truth,
    tags: new Map([
      ['1.0.0', 2],
      ['0.9.0', 1],
      ['0.8.0', 1],
    ]),
    images: [image('1.0.0'), image('1.0.0'), image('0.9.0'), image('0.8.0')],
  };
  const said = {
    ...views,
    kubectl: { ...row, running: '1.0.0,+2' },
    cli: { ...row, running: '1.0.0,+2' },
    status: { images: many.images, changedTo: [] },
    api: { ...views.api, state: 'Waiting', running: '1.0.0,+2' },
    page: { state: 'Waiting', running: '1.0.0,+2', wanted: '1.1.0', why: 'opens at 22:00' },
    places: many.images.map((one) => ({ image: one, state: 'Behind' })),
  };
  assert.deepEqual(compare(many, said), []);
  assert.equal(compare(many, { ...said, kubectl: { ...row, running: '0.9.0,+2' } }).length, 1);
});
