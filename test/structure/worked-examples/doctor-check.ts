import type { WorkedExample } from './worked-example.ts';

const check = `import { type Check, ok, warning } from '../finding.ts';

/** The day on which the report is made. */
export interface CalendarFacts {
  readonly day: string;
}

/** Checks that the day is no leap day, as a worked example. */
export const calendar: Check<CalendarFacts> = {
  id: 'calendar',
  lines: ['day'],
  evaluate: ({ day }) => [
    day.endsWith('-02-29') ? warning('calendar/day', 'today is a leap day', 'wait a day') : ok('calendar/day', 'today is no leap day'),
  ],
};
`;

export const example: WorkedExample = {
  row: 'check of the doctor',
  word: 'calendar',
  steps: [
    { file: 'src/service/doctor/checks/calendar.ts', text: check, without: 'both' },
    {
      file: 'src/service/doctor/checks/index.ts',
      after: { 'import { certificates }': "import { calendar } from './calendar.ts';", 'policies,': '  calendar,' },
      without: 'both',
    },
    {
      file: 'src/service/doctor-facts/make-report.ts',
      after: {
        'runCheck(checks.policies': `        runCheck(checks.calendar, timeoutMs, () => Promise.resolve({ day: new Date(now).toISOString().slice(0, 10) })),`,
      },
      without: 'suite',
    },
    {
      file: 'test/service/doctor/service-checks.test.ts',
      after: {
        "import { clock } from '../../../src": "import { calendar } from '../../../src/service/doctor/checks/calendar.ts';",
        'const now = ': `
test('the calendar warns of a leap day', () => {
  assertLine(evaluate(calendar, { day: '2028-02-29' }), 'calendar/day', 'warning', /leap day/);
  assertLine(evaluate(calendar, { day: '2028-03-01' }), 'calendar/day', 'ok', /no leap day/);
});
`,
      },
      replace: { 'testAllSeen(redis': 'testAllSeen(calendar, redis' },
      without: 'suite',
    },
    {
      file: 'docs/doctor.md',
      after: { 'Policies with two workloads or more whose': '\n## Calendar\n\n### `calendar/day`\n' },
      without: 'suite',
    },
  ],
  suite: ['test/service/doctor/service-checks.test.ts', 'test/docs/doctor.test.ts', 'test/structure/families.test.ts'],
};
