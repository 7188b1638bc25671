import { z } from 'zod';
import { maxFollowed } from '../../../core/model/followed-status.ts';
import { isObject } from '../../../core/model/untyped.ts';
import { fieldOf, withChecks, type CheckContext, type Finding } from '../rules.ts';
import { duration, name, targetNamespace } from './scalars.ts';

const followed = z
  .object({
    name: name('Name of the ImagePolicy.'),
    namespace: targetNamespace(
      'Namespace of the ImagePolicy; by default that of this policy. Another namespace has to consent.',
    ).exactOptional(),
  })
  .describe('An ImagePolicy that has to run the image first.');

/** Schema of the policies that have to run an image first, and for how long. */
export const provenBy = (what: string) =>
  z
    .object({
      policies: withChecks(
        z
          .array(followed)
          .min(1)
          .max(maxFollowed)
          .describe('Those policies: all of them have to run the image. They need update.pin: Digest.'),
        checkPoliciesDiffer,
      ),
      for: duration(
        'For how long all their workloads have to run it, complete and available; by default they only have to run it now.',
      ).exactOptional(),
    })
    .describe(what);

/** Checks that no policy is named twice. */
function checkPoliciesDiffer(value: unknown, { namespace }: CheckContext): Finding[] {
  const policies: readonly unknown[] = Array.isArray(value) ? value : [];
  const seen = new Set<string>();
  return policies.flatMap((policy, index): Finding[] => {
    if (!isObject(policy)) return [];
    const key = JSON.stringify([fieldOf(policy, 'namespace') ?? namespace, fieldOf(policy, 'name')]);
    if (!seen.has(key)) {
      seen.add(key);
      return [];
    }
    return [{ keys: [index], message: 'names the same policy twice: remove one of them' }];
  });
}
