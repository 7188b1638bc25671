import type { WorkedExample } from './worked-example.ts';

const check = `import type { AskedAnswer } from '../reconcile/checks/check-request.ts';
import type { CheckMeans } from './check-means.ts';

/** Says no on 29 February, as a worked example. */
export async function askCalendar(_question: object, _request: object, { now }: Pick<CheckMeans, 'now'>): Promise<AskedAnswer> {
  const isLeapDay = new Date(now()).toISOString().includes('-02-29T');
  return isLeapDay ? { kind: 'fail', message: 'today is a leap day' } : { kind: 'pass', message: 'today is no leap day' };
}
`;

const test = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAskCheck } from '../../../src/service/checks/ask-check.ts';
import { meansOf, requestOf } from './check-samples.ts';

test('a leap day is a bad answer', async () => {
  const ask = (date: string) => createAskCheck(meansOf({ now: () => Date.parse(date) }))(requestOf({ kind: 'calendar' }));
  assert.equal((await ask('2028-02-29T12:00:00Z')).kind, 'fail');
  assert.equal((await ask('2028-03-01T12:00:00Z')).kind, 'pass');
});
`;

export const example: WorkedExample = {
  row: 'kind of check of a rollout',
  word: 'calendar',
  steps: [
    { file: 'src/service/checks/calendar-check.ts', text: check, without: 'both' },
    { file: 'src/core/model/rollout-check.ts', after: { '| PrometheusQuestion': "  | { readonly kind: 'calendar' }" }, without: 'types' },
    {
      file: 'src/service/checks/ask-check.ts',
      after: {
        "import { askAnalysis } from './analysis-check.ts';": "import { askCalendar } from './calendar-check.ts';",
        'analysis: askAnalysis,': '  calendar: askCalendar,',
      },
      without: 'both',
    },
    {
      file: 'src/service/checks/allowed-checks.ts',
      after: { 'job: (_, __, { jobs })': '  calendar: () => undefined,' },
      without: 'types',
    },
    {
      file: 'src/service/resources/v1-fields/checks.ts',
      after: { 'const ways = {': "  calendar: z.object({}).exactOptional().describe('Fails on a leap day.')," },
      without: 'types',
    },
    {
      file: 'src/service/resources/read-check.ts',
      after: { 'if (job !== undefined)': "  if (calendar !== undefined) return { kind: 'calendar' };" },
      replace: { 'job, analysis }: Check': 'job, analysis, calendar }: Check' },
      without: 'suite',
    },
    { file: 'crd/samples/checks.yaml', after: { 'checks:': '      - name: no-leap-day\n        calendar: {}' }, without: 'suite' },
    { file: 'test/service/checks/calendar-check.test.ts', text: test, without: 'suite' },
    {
      file: 'src/service/checks/README.md',
      after: { '| `job-check.ts` |': '| `calendar-check.ts` | no change on a leap day |' },
      without: 'suite',
    },
    {
      file: 'docs/checks.md',
      after: {
        '| `Successful` |': '\n## A calendar\n\n```yaml\n  rollout:\n    checks:\n      - name: no-leap-day\n        calendar: {}\n```\n',
      },
      without: 'suite',
    },
  ],
  suite: ['test/service/checks/calendar-check.test.ts', 'test/structure/families.test.ts'],
};
