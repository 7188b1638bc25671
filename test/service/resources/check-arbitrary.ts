/** What the schemas of checks accept, CEL rules included. */
import fc from 'fast-check';
import { matching, some, text } from './arbitrary-parts.ts';

const label = matching(/^[a-z0-9](?:[a-z0-9-]{0,20}[a-z0-9])?$/, 'smoke', 'errors');
const number = fc.double({ noNaN: true, noDefaultInfinity: true, min: -1_000, max: 1_000 }).map((one) => (Object.is(one, -0) ? 0 : one));
const secretRef = some({ name: label, key: matching(/^[A-Za-z0-9._-]{1,20}$/, 'signing-key') }, ['name', 'key']);
const http = some({ url: fc.constantFrom('https://checks.example.com/smoke', 'http://checks.shop.svc:8080'), secretRef }, [
  'url',
  'secretRef',
]);
const noData = fc.constantFrom('Wait', 'Pass', 'Fail');
const query = text(2_048, 'sum(rate(errors[5m]))', 'up');
const prometheus = fc.oneof(
  some({ server: label, query, min: number, noData }, ['server', 'query', 'min']),
  some({ server: label, query, max: number, noData }, ['server', 'query', 'max']),
  fc.constant({ server: 'main', query: 'up', min: -1.5, max: 2 }),
);
const job = some({ cronJob: label }, ['cronJob']);
const analysis = some({ template: label }, ['template']);

/** Checks of a policy, each with a name of its own. */
function checksArbitrary(duration: fc.Arbitrary<string>): fc.Arbitrary<object[]> {
  const common = { name: label, every: duration, timeout: duration, retries: fc.integer({ min: 0, max: 100 }) };
  const phase = fc.constantFrom('before', 'during', 'after');
  const check = fc.oneof(
    some({ ...common, phase, http }, ['name', 'http']),
    some({ ...common, phase: fc.constantFrom('before', 'after'), for: duration, http }, ['name', 'http']),
    some({ ...common, phase, prometheus }, ['name', 'prometheus']),
    some({ ...common, phase, job }, ['name', 'job']),
    some({ ...common, phase, analysis }, ['name', 'analysis']),
  );
  return fc.uniqueArray(check, { minLength: 1, maxLength: 3, selector: (one) => ('name' in one ? one.name : undefined) });
}

/** `spec.rollout`. */
export function rolloutArbitrary(duration: fc.Arbitrary<string>, selector: fc.Arbitrary<unknown>): fc.Arbitrary<object> {
  return some({
    watch: fc.boolean(),
    timeout: duration,
    onFailure: fc.constantFrom('Rollback', 'Hold', 'Ignore'),
    maxParallel: fc.integer({ min: 1, max: 100 }),
    waves: some({
      maxParallel: fc.integer({ min: 1, max: 100 }),
      canaries: selector,
      pause: duration,
      maxFailures: fc.integer({ min: 1, max: 100 }),
    }),
    checks: checksArbitrary(duration),
  })
    .filter((one) => !('checks' in one) || one.watch !== false)
    .filter((one) => !('waves' in one) || (one.watch !== false && one.onFailure !== 'Ignore'));
}

/** A check in a status. */
export function checkRecordArbitrary(
  parts: Readonly<Record<'dateTime' | 'digest' | 'tag' | 'message', fc.Arbitrary<string>>>,
): fc.Arbitrary<object> {
  const { dateTime, digest, tag, message } = parts;
  const count = fc.integer({ min: 0, max: 9 });
  return some(
    {
      name: text(63, 'smoke'),
      phase: fc.constantFrom('before', 'during', 'after'),
      id: text(64, '0123456789abcdef'),
      tag,
      digest,
      state: fc.constantFrom('Running', 'Passed', 'Failed', 'TimedOut'),
      startedAt: dateTime,
      at: dateTime,
      answered: count,
      failures: count,
      job: some({ name: label, uid: text(64, '0ea1c2d4-1111-4111-8111-111111111111') }, ['name', 'uid']),
      message,
    },
    ['name', 'phase', 'id', 'tag', 'state', 'startedAt'],
  );
}
