/** Plans rebases that no rule refuses, and reads what they would write. */
import assert from 'node:assert/strict';
import type { ConfigDocument, ManifestDocument } from '../../../src/bases/rebase/content.ts';
import { planRebase, type RebasePlan } from '../../../src/bases/rebase/plan-rebase.ts';
import { rules } from '../../../src/bases/rebase/rules/index.ts';
import { request, type RequestSample } from './samples.ts';

/** The names of all rules. */
export const all = rules.map(({ id }) => id);

export function plan(sample: RequestSample): RebasePlan {
  const result = planRebase(request({ allow: all, ...sample }));
  assert.ok(result.kind === 'plan', result.kind === 'refused' ? result.message : result.kind);
  return result;
}

export function configOf(planned: RebasePlan, index = 0): ConfigDocument {
  return JSON.parse(String(planned.configs[index])) as ConfigDocument;
}

export function manifestOf(planned: RebasePlan, index = 0): ManifestDocument {
  return JSON.parse(String(planned.manifests[index]?.bytes)) as ManifestDocument;
}
