/** A check of the policy shop/web, and its record. */
import type { PolicyStatus } from '../../../src/core/model/policy-status.ts';
import type { CheckSettings } from '../../../src/core/model/rollout-check.ts';
import { beginChecks } from '../../../src/core/plan/check-records.ts';
import { digestOf, policyOf } from '../model/samples.ts';

export const image = { tag: '1.3.0', digest: digestOf('b') };
/** When the checks of these tests begin. */
export const start = new Date('2026-03-02T11:00:00Z');

export function checkOf(check: Partial<CheckSettings> = {}): CheckSettings {
  const question = { kind: 'http', url: 'https://checks.example.com', secret: { name: 'checks', key: 'key' } } as const;
  return { name: 'gate', phase: 'before', everyMs: 10_000, timeoutMs: 60_000, retries: 0, question, ...check };
}

export const owner = policyOf();
export const begin = (check: CheckSettings, status: PolicyStatus = {}) =>
  beginChecks(status, owner, { checks: [check], image, now: start });
