/** Fixes that wait, in statuses that reconciles write: each is reported once with what it waits for, and what is applied is not. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PolicySpec } from '../../../src/core/model/image-policy.ts';
import type { PolicyStatus } from '../../../src/core/model/policy-status.ts';
import { waitingFixOf } from '../../../src/core/model/waiting-fix.ts';
import { policyNotices } from '../../../src/core/status/policy-notices.ts';
import { policyCauses } from '../causes/causes-of.ts';
import { digestOf } from '../../core/model/samples.ts';
import { critical, day, scanOf, startVulnerable, waits } from './vulnerable-world.ts';
import { image } from './world.ts';

const more = ['CVE-2026-7', 'CVE-2026-8'].map((id) => ({ id, severity: 'Critical' as const }));

/** What keeps an image that fixes a critical vulnerability, and the reason that is reported. */
const kept: Readonly<Record<string, readonly [Partial<PolicySpec>, reason: string, vetoed?: boolean]>> = {
  'its age': [{ minAgeMs: 7 * day }, 'MinAge'],
  'a window': [{ windows: waits.window.windows }, 'Window'],
  'an approval': [{ mode: 'Approval' }, 'ApprovalRequired'],
  'a dry run': [{ mode: 'DryRun' }, 'DryRun'],
  'more other vulnerabilities': [{}, 'MoreVulnerable', true],
};

describe('a fix that is held back by', () => {
  for (const [what, [spec, reason, vetoed = false]] of Object.entries(kept))
    test(`${what} is reported once, and is a cause`, async () => {
      const { world, evidence, policy, push, check, now } = startVulnerable(spec, vetoed ? 'High' : undefined);
      evidence.set(digestOf('b'), scanOf(vetoed ? more : []));
      const reported = (before: PolicyStatus) =>
        policyNotices(policy(), { before, after: policy().status }, new Date(now()).toISOString()).filter(
          ({ notice }) => notice.kind === 'FixAvailable',
        );
      const before = policy().status;
      await push('1.3.0', 'b');
      assert.deepEqual(world.images(), [`${image}:1.2.3`]);
      const [found, ...others] = reported(before);
      assert.deepEqual(others, []);
      assert.deepEqual(
        [found?.notice.tag, found?.notice.reason, found?.notice.from, found?.notice.fixes],
        ['1.3.0', reason, [`${image}:1.2.3`], [{ id: critical.id, severity: 'Critical' }]],
      );
      const waiting = policy().status;
      await check();
      assert.deepEqual(reported(waiting), []);
      assert.deepEqual(
        policyCauses([policy()], now()).map((cause) => cause.reason),
        // That it has more others is said of the image, besides.
        vetoed ? ['FixAvailable', 'MoreVulnerable'] : ['FixAvailable'],
      );
    });
});

test('a fix is not reported if it is applied at once, or was applied after a wait', async () => {
  const { world, evidence, policy, push, ring, now } = startVulnerable(waits.minAge);
  const before = policy().status;
  await push('1.3.0', 'b');
  evidence.set(digestOf('b'), scanOf([]));
  await ring();
  assert.deepEqual(world.images(), [`${image}:1.3.0`]);
  const notices = policyNotices(policy(), { before, after: policy().status }, new Date(now()).toISOString());
  assert.deepEqual(
    notices.map(({ notice }) => notice.kind),
    ['Updated'],
  );
  assert.equal(waitingFixOf(policy()), undefined);
  assert.deepEqual(policyCauses([policy()], now()), []);
});
