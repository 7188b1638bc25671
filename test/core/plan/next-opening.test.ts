import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import fc from 'fast-check';
import { days, type UpdateWindow } from '../../../src/core/model/image-policy.ts';
import { nextOpening } from '../../../src/core/plan/next-opening.ts';

const day = { from: '09:00', to: '17:00', timeZone: 'Europe/Berlin' };
const week = { ...day, days: ['Mon', 'Tue', 'Wed', 'Thu', 'Fri'] } as const;
const night = { from: '22:00', to: '04:00', timeZone: 'Europe/Berlin', days: ['Fri'] } as const;

const rows: [name: string, windows: UpdateWindow[], now: string, opens: string | undefined][] = [
  ['no windows', [], '2026-03-01T12:00:00Z', undefined],
  ['open', [day], '2026-03-02T12:00:00Z', undefined],
  ['open at its first moment', [day], '2026-03-02T08:00:00Z', undefined],
  ['closed a moment before', [day], '2026-03-02T07:59:59.999Z', '2026-03-02T08:00:00.000Z'],
  ['closed at its last moment', [day], '2026-03-02T16:00:00Z', '2026-03-03T08:00:00.000Z'],
  ['over the weekend', [week], '2026-03-06T20:00:00Z', '2026-03-09T08:00:00.000Z'],
  ['the next of several', [week, night], '2026-03-06T20:00:00Z', '2026-03-06T21:00:00.000Z'],
  ['after midnight it is still that of Friday', [night], '2026-03-07T02:59:59Z', undefined],
  ['and closes in the night to Saturday', [night], '2026-03-07T03:00:00Z', '2026-03-13T21:00:00.000Z'],
  ['the night to Friday is not that of Friday', [night], '2026-03-06T01:00:00Z', '2026-03-06T21:00:00.000Z'],
  ['summer time begins on the way', [week], '2026-03-28T12:00:00Z', '2026-03-30T07:00:00.000Z'],
  ['summer time ends on the way', [week], '2026-10-24T12:00:00Z', '2026-10-26T08:00:00.000Z'],
  ['in the hour that is skipped', [{ ...day, from: '02:15', to: '02:45' }], '2026-03-29T00:00:00Z', '2026-03-30T00:15:00.000Z'],
  [
    'once a week, in the hour that is skipped',
    [{ ...day, from: '02:15', to: '02:45', days: ['Sun'] }],
    '2026-03-28T00:00:00Z',
    '2026-04-05T00:15:00.000Z',
  ],
  ['begins in the hour that is skipped', [{ ...day, from: '02:15', to: '05:00' }], '2026-03-29T00:00:00Z', '2026-03-29T01:00:00.000Z'],
  ['in the hour that comes twice', [{ ...day, from: '02:15', to: '02:45' }], '2026-10-25T00:50:00Z', '2026-10-25T01:15:00.000Z'],
  ['a zone of half an hour', [{ ...day, timeZone: 'Asia/Kolkata' }], '2026-03-02T20:00:00Z', '2026-03-03T03:30:00.000Z'],
  ['clocks that change by half an hour', [{ ...day, timeZone: 'Australia/Lord_Howe' }], '2026-04-04T12:00:00Z', '2026-04-04T22:30:00.000Z'],
];

for (const [name, windows, now, opens] of rows) {
  test(`${opens === undefined ? 'updates are allowed now' : `the next window opens at ${opens}`} in the case "${name}"`, () =>
    assert.equal(nextOpening(windows, new Date(now))?.toISOString(), opens));
}

/** The clocks of a zone, in another way than the code's. */
const clockOf = (timeZone: string) => {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone, weekday: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  return (at: number) => {
    const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]));
    return { day: parts['weekday'] ?? '', time: `${parts['hour']}:${parts['minute']}` };
  };
};
const isOpenBy = (window: UpdateWindow, clock: ReturnType<typeof clockOf>, at: number) => {
  const { day: today, time } = clock(at);
  const yesterday = days[(days.findIndex((name) => name === today) + 6) % 7];
  const starts = (name: string | undefined) => window.days === undefined || window.days.some((wanted) => wanted === name);
  if (window.from < window.to) return starts(today) && time >= window.from && time < window.to;
  return (starts(today) && time >= window.from) || (starts(yesterday) && time < window.to);
};

/** Nights in which clocks change, and an ordinary one. */
const moments = [
  ['Europe/Berlin', '2026-03-29T01:00:00Z'],
  ['Europe/Berlin', '2026-10-25T01:00:00Z'],
  ['America/New_York', '2026-03-08T07:00:00Z'],
  ['America/New_York', '2026-11-01T06:00:00Z'],
  ['Australia/Lord_Howe', '2026-10-03T15:30:00Z'],
  ['Australia/Lord_Howe', '2026-04-04T15:00:00Z'],
  ['Asia/Kathmandu', '2026-06-01T00:00:00Z'],
  ['America/Sao_Paulo', '2018-11-04T03:00:00Z'],
  ['Africa/Casablanca', '2026-03-22T02:00:00Z'],
] as const;
const time = fc
  .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
  .map(([hour, minute]) => `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`);

test('around every change of the clocks a window is closed until it opens', () => {
  const input = fc.record({
    moment: fc.constantFrom(...moments),
    offsetMinutes: fc.integer({ min: -26 * 60, max: 6 * 60 }),
    from: time,
    to: time,
    wanted: fc.option(fc.uniqueArray(fc.constantFrom(...days), { minLength: 1 }), { nil: undefined }),
  });
  fc.assert(
    fc.property(input, ({ moment: [timeZone, change], offsetMinutes, from, to, wanted }) => {
      fc.pre(from !== to);
      const window: UpdateWindow = { from, to, timeZone, ...(wanted !== undefined && { days: wanted }) };
      const now = Date.parse(change) + offsetMinutes * 60_000;
      const clock = clockOf(timeZone);
      const opening = nextOpening([window], new Date(now))?.getTime();
      assert.equal(opening === undefined, isOpenBy(window, clock, now), 'open now');
      if (opening === undefined) return;
      assert.ok(opening > now && isOpenBy(window, clock, opening), 'open then');
      // Every minute of the first two days, then every half an hour would miss short ones: the end is looked at closely.
      const closely = Math.min(opening, now + 2 * 86_400_000);
      for (let at = now; at < closely; at += 60_000) assert.ok(!isOpenBy(window, clock, at), new Date(at).toISOString());
      for (let at = Math.max(now, opening - 3 * 3_600_000); at < opening; at += 60_000) assert.ok(!isOpenBy(window, clock, at));
    }),
    { numRuns: 100 },
  );
});

/** Formatting a time is what costs. */
function countFormatted(act: () => void): number {
  const method = mock.method(Intl.DateTimeFormat.prototype, 'formatToParts');
  try {
    act();
    return method.mock.callCount();
  } finally {
    method.mock.restore();
  }
}

test('32 windows in as many time zones are compared with hundreds of workloads at the cost of one', () => {
  const zones = Intl.supportedValuesOf('timeZone').filter((zone) => zone.startsWith('Asia/'));
  const windows = zones.slice(0, 32).map((timeZone): UpdateWindow => ({ days: ['Thu'], from: '00:00', to: '00:01', timeZone }));
  assert.equal(windows.length, 32);
  const now = Date.parse('2031-03-21T12:00:00Z');
  const first = countFormatted(() => assert.ok(nextOpening(windows, new Date(now)) !== undefined));
  assert.ok(first > 0 && first <= 32 * 150, String(first));
  const others = countFormatted(() => {
    for (let workload = 0; workload < 500; workload++) nextOpening(windows, new Date(now + workload));
    for (let policy = 0; policy < 50; policy++) nextOpening([...windows], new Date(now + policy));
  });
  assert.equal(others, 0);
});

test('a time zone is known in all its spellings', () => {
  const open = (timeZone: string) => nextOpening([{ ...day, timeZone }], new Date('2031-06-02T06:59:59Z'))?.toISOString();
  assert.equal(open('Europe/Berlin'), '2031-06-02T07:00:00.000Z');
  assert.equal(
    countFormatted(() => assert.equal(open('eUROPE/bERLIN'), '2031-06-02T07:00:00.000Z')),
    0,
  );
});

test('windows that were closed are open when their time has come', () => {
  const windows: UpdateWindow[] = [day];
  assert.ok(nextOpening(windows, new Date('2026-03-02T07:00:00Z')));
  assert.equal(nextOpening(windows, new Date('2026-03-02T08:00:00Z')), undefined);
  assert.equal(nextOpening(windows, new Date('2026-03-02T16:00:00Z'))?.toISOString(), '2026-03-03T08:00:00.000Z');
  assert.equal(nextOpening(windows, new Date('2026-03-02T07:59:59Z'))?.toISOString(), '2026-03-02T08:00:00.000Z');
});
