/** One message in place of many. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Notice, NoticeKind } from '../../src/core/model/notice.ts';
import { messageOf } from '../../src/notify/message.ts';
import { targets } from '../../src/notify/targets/index.ts';

const at = '2026-11-23T12:00:00Z';
const noticesOf = (kind: NoticeKind, count: number): Notice[] =>
  Array.from({ length: count }, (_, index) => ({
    kind,
    subject: { kind: 'ImagePolicy', namespace: 'shop', name: `web${index}`, uid: `u${index}` },
    at,
    tag: '1.1.0',
  }));
const content = {
  type: 'summary',
  target: 'ops',
  at,
  notices: [...noticesOf('Updated', 12), ...noticesOf('RolloutFailed', 1)],
  more: 3,
} as const;

const fact = (label: string, names: readonly string[], others = 0) => ({ label, names, others, hasMore: false, text: '' });

test('a summary of notices lists failures first, the first names of each kind, and the number of others', () => {
  assert.deepEqual(messageOf(content, { dashboardUrl: 'https://images.example.com' }), {
    severity: 'failure',
    title: '16 more notifications, summed up',
    facts: [
      fact('Failed to roll out (1)', ['shop/web0 1.1.0']),
      fact(
        'Updated (12)',
        Array.from({ length: 10 }, (_, index) => `shop/web${index} 1.1.0`),
        2,
      ),
      { ...fact('Not listed', []), text: '3' },
    ],
    notes: [],
    button: { text: 'Open the dashboard', url: 'https://images.example.com' },
    links: [],
  });
});

test('a summary of notices for programs has the counts', () => {
  const { body } = targets.webhook.build(content, { id: 'id-1', secret: '', now: new Date(at) });
  const { type, data } = JSON.parse(body) as { type: string; data: unknown };
  assert.deepEqual(
    [type, data],
    ['dev.technomad.image-watcher.Summary', { target: 'ops', counts: { Updated: 12, RolloutFailed: 1 }, more: 3 }],
  );
});
