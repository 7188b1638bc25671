/** Times are shown with how long ago they were, also inside of what the service says. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { html, writeDocument } from '../../src/dashboard/html.ts';
import { messageTo } from '../../src/dashboard/parts/said.ts';
import { conditionTable } from '../../src/dashboard/parts/tables.ts';
import { showPushWay } from '../../src/dashboard/parts/push-way.ts';
import { en } from '../../src/dashboard/texts/en.ts';
import { zh } from '../../src/dashboard/texts/zh.ts';

const both = (at: string, shown: string) => `<time class="both" datetime="${at}">${shown} UTC</time>`;
const rows: [message: string, shown: string][] = [
  ['2.0.0 is tried again at 2026-03-01T12:05:00Z', `2.0.0 is tried again at ${both('2026-03-01T12:05:00Z', '2026-03-01 12:05')}`],
  [
    'from 2026-03-01T12:05:00Z to 2026-03-02T12:05:00.250Z.',
    `from ${both('2026-03-01T12:05:00Z', '2026-03-01 12:05')} to ${both('2026-03-02T12:05:00.250Z', '2026-03-02 12:05')}.`,
  ],
  ['at 2026-19-01T12:05:00Z', 'at 2026-19-01T12:05:00Z'],
  ['<b>2026-03-01T12:05:00Z', `&lt;b>${both('2026-03-01T12:05:00Z', '2026-03-01 12:05')}`],
  ['the tag main-2026-03-01T12:05:00Z-1', 'the tag main-2026-03-01T12:05:00Z-1'],
  ['no time', 'no time'],
];
for (const [message, shown] of rows)
  test(`times in the message "${message}" are marked up as times`, () => {
    assert.equal(writeDocument(html`<p>${messageTo(undefined, message, en)}</p>`), `<!doctype html>\n<p>${shown}</p>\n`);
  });

test('times in a translated message are marked up as times', () => {
  const shown = writeDocument(html`<p>${messageTo(undefined, '1.3.0 is pending until 2026-03-01T12:05:00Z', zh)}</p>`);
  assert.match(shown, /<p>1\.3\.0 等待到 <time class="both" datetime="2026-03-01T12:05:00Z">/);
});

test('conditions and stages of a push show their age', () => {
  const at = '2026-03-01T12:00:00Z';
  const condition = { type: 'Ready', status: 'False', reason: 'Window', message: `until ${at}`, lastTransitionTime: at };
  const shown = writeDocument(conditionTable([condition], en));
  assert.ok(shown.includes(`until ${both(at, '2026-03-01 12:00')}`), shown);
  assert.ok(shown.includes(`<time class="ago" datetime="${at}">`), shown);
  const push = { id: 'one', receiver: 'prod', provider: 'harbor', tag: '1.1.0', receivedAt: at, outcome: 'updated', policies: [] } as const;
  assert.match(
    writeDocument(showPushWay(push, { namespace: 'shop', name: 'web' }, (message) => message, en)),
    /Received<\/b>\s*<small><time class="ago"/,
  );
});
