import assert from 'node:assert/strict';
import { test } from 'node:test';
import { environmentTable } from '../../src/cli/explain/environments.ts';
import { digestOf } from '../core/model/samples.ts';

test('explain shows one row per image, and one column per policy in the order of following', () => {
  const [staging, production] = [
    { namespace: 'staging', name: 'web' },
    { namespace: 'shop', name: 'web' },
  ];
  const since = '2026-03-01T12:00:00Z';
  const until = '2026-03-01T12:30:00Z';
  const table = environmentTable(
    {
      policies: [staging, production],
      images: [
        {
          tag: '1.1.0',
          digest: digestOf('b'),
          stages: [
            { ...staging, state: 'Healthy', since },
            { ...production, state: 'Waits', since, until, reason: 'NotProven' },
          ],
        },
        { digest: digestOf('a'), stages: [{ ...production, state: 'Failed', since, reason: 'RolloutFailed' }] },
        { tag: 'evil\u001b[2J', digest: digestOf('c'), stages: [{ ...production, state: 'Ran' }] },
      ],
    },
    new Date('2026-03-01T12:12:00Z'),
  );
  assert.deepEqual(
    table.split('\n').map((line) => line.split(/ {2,}/)),
    [
      [''],
      ['IMAGE', 'staging/web', 'shop/web'],
      ['1.1.0 sha256:bbbbbbbbbbbb…', 'healthy for 12m', `waits for 12m until ${until} (NotProven)`],
      ['sha256:aaaaaaaaaaaa…', '-', 'failed 12m ago (RolloutFailed)'],
      [table.split('\n')[4]?.split(/ {2,}/)[0], '-', 'ran'],
      [''],
    ],
  );
  assert.ok(!table.includes('\u001b'), 'a tag from elsewhere reaches no terminal as it is');
});
