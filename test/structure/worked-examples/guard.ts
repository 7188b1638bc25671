import type { WorkedExample } from './worked-example.ts';

const guard = `import { formatWorkload } from '../../model/workload.ts';
import type { Guard } from './guard.ts';

/** Blocks every change on 29 February, as a worked example. */
export const leapDay: Guard = {
  id: 'leap-day',
  bindsRollback: false,
  check({ target }, { now }) {
    if (!now.toISOString().includes('-02-29T')) return undefined;
    return { kind: 'blocked', reason: 'LeapDay', message: \`\${formatWorkload(target)} is not changed on a leap day\` };
  },
};
`;

export const example: WorkedExample = {
  row: 'check before a change (guard)',
  word: 'LeapDay',
  steps: [
    { file: 'src/core/plan/guards/leap-day.ts', text: guard, without: 'both' },
    {
      // The first guard that stops a change gives the reason, so its place is a decision.
      file: 'src/core/plan/guards/index.ts',
      after: { "import { held } from './held.ts';": "import { leapDay } from './leap-day.ts';", 'dryRun,': '  leapDay,' },
      without: 'suite',
    },
    {
      file: 'src/core/model/reasons.ts',
      after: { 'TargetPaused:': "  LeapDay: 'the day is 29 February'," },
      without: 'types',
    },
    {
      // A guard that waits until a time has its reason in src/core/plan/wait-reasons.ts as well, which the type checker asks for.
      file: 'src/core/model/guard-reasons.ts',
      after: { 'TargetPaused:': "  LeapDay: ['heldBack', 'shownAsHeld']," },
      without: 'types',
    },
    {
      file: 'test/core/plan/guards/guards.test.ts',
      after: {
        "import { held } from '../../../../src/core/plan/guards/held.ts';":
          "import { leapDay } from '../../../../src/core/plan/guards/leap-day.ts';",
        "[paused, 'paused', { workload: { paused: true } }": `  [leapDay, 'another day', {}, 'pass'],
  [leapDay, 'the day', { context: { now: new Date('2028-02-29T12:00:00Z') } }, 'blocked LeapDay'],`,
      },
      without: 'suite',
    },
    { file: 'src/dashboard/texts/reasons-zh.ts', after: { 'TargetPaused:': "  LeapDay: '今天是 2 月 29 日'," }, without: 'types' },
    {
      file: 'src/dashboard/texts/messages-zh/plan.ts',
      after: { "'nothing to change':": "  '{0} is not changed on a leap day': '闰日不修改 {0}'," },
      without: 'suite',
    },
    {
      file: 'docs/explanations/guards.ts',
      after: { "'dry-run': {": "  'leap-day': { stops: 'the day is 29 February', shownAs: 'Held', reason: 'LeapDay' }," },
      without: 'suite',
    },
    {
      // What `npm run generate` makes of the row in docs/templates/guards.md.
      file: 'docs/guards.md',
      after: { '| `dry-run` |': '| `leap-day` | the day is 29 February | Held, `LeapDay` | wait a day |' },
      without: 'suite',
    },
    {
      file: 'docs/explanations/rollouts.ts',
      after: {
        'export const blocked': "  LeapDay: { shown: 'The condition `Held`.', cause: 'The day is 29 February.', action: 'Wait a day.' },",
      },
      without: 'types',
    },
  ],
  suite: ['test/core/plan/guards/guards.test.ts', 'test/dashboard/messages-zh.test.ts', 'test/structure/families.test.ts'],
};
