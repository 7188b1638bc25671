import { z } from 'zod';
import type { Candidate } from '../../../src/core/model/image-reference.ts';
import { readPolicy } from '../../../src/service/resources/read-policy.ts';
import { convertAll } from '../../../src/cli/import/keel/convert-all.ts';
import { isUsable, type PolicySpec } from '../../../src/core/model/image-policy.ts';
import { planUpdate } from '../../../src/core/plan/plan-update.ts';
import { selectTag } from '../../../src/core/select/select-tag.ts';
import type { TagStrategy } from '../../../src/core/model/tag-strategy.ts';
import { allKnown, digestOf, noAliases, workloadOf } from '../../core/model/samples.ts';
import { family } from '../family.ts';

const settings = { policy: z.string(), matchTag: z.boolean().optional(), matchPreRelease: z.boolean().optional(), current: z.string() };
const name = 'registry.example.com/shop/web';

/** Whether a push changes a workload that was imported from Keel; a push of the tag that runs has a new digest. */
export const keelPushes = family('keel-pushes', z.strictObject({ ...settings, pushed: z.string() }), ({ pushed, ...keel }) => {
  const spec = imported(keel, false);
  if (spec === undefined) return false;
  const strategy = knowing(spec.strategy, [keel.current, pushed]);
  if (strategy.reject(pushed) !== undefined) return false;
  return becomes({ ...spec, strategy }, keel.current, { tag: pushed, digest: digestOf('b') }) !== undefined;
});

/** The tag that runs after a poll of an imported workload; the registry lists tags in the order of their creation. */
export const keelPolls = family('keel-polls', z.strictObject({ ...settings, tags: z.array(z.string()) }), ({ tags, ...keel }) => {
  const spec = imported(keel, true);
  if (spec === undefined) return keel.current;
  const strategy = knowing(spec.strategy, [keel.current, ...tags]);
  const tag = selectTag(strategy, tags);
  const to = tag === undefined ? undefined : becomes({ ...spec, strategy }, keel.current, { tag });
  return to?.slice(name.length + 1) ?? keel.current;
});

interface Keel {
  readonly policy: string;
  readonly matchTag?: boolean | undefined;
  readonly matchPreRelease?: boolean | undefined;
  readonly current: string;
}

/** The policy that `import keel` writes for a workload, as the service reads it; undefined where it is not carried over. */
function imported({ policy, matchTag, matchPreRelease, current }: Keel, polls: boolean): PolicySpec | undefined {
  const annotations = {
    'keel.sh/policy': policy,
    ...(matchTag !== undefined && { 'keel.sh/matchTag': String(matchTag) }),
    ...(matchPreRelease !== undefined && { 'keel.sh/matchPreRelease': String(matchPreRelease) }),
    ...(polls && { 'keel.sh/trigger': 'poll' }),
  };
  const containers = [{ name: 'web', image: `${name}:${current}` }];
  const workload = { kind: 'Deployment', namespace: 'shop', name: 'web', labels: {}, annotations, containers, initContainers: [] };
  const [written] = convertAll([workload]).policies;
  if (written === undefined) return undefined;
  const { metadata, spec } = written.policy;
  const context = { aliases: noAliases, customTargets: [], olderVersions: [] };
  const read = readPolicy({ metadata: { ...metadata, uid: 'u', resourceVersion: '1', generation: 1 }, spec }, context).spec;
  if (!isUsable(read)) throw new Error(`not a policy: ${read.problem.message}`);
  return read;
}

/** Where images are compared by their age: each is a minute younger than the one before, and the last time of a tag counts. */
function knowing(strategy: TagStrategy, tags: readonly string[]): TagStrategy {
  return strategy.withCreationTimes?.(new Map(tags.map((tag, index) => [tag, new Date(Date.UTC(2026, 0, 1, 0, index))]))) ?? strategy;
}

/** The image that replaces the running one; undefined where it stays. */
function becomes(spec: PolicySpec, current: string, candidate: Candidate): string | undefined {
  const workload = workloadOf({ web: `${name}:${current}` });
  const { targets } = planUpdate({ spec, candidate, hasApplied: false, aliases: noAliases, ...allKnown, findWorkload: () => workload });
  return targets[0]?.changes[0]?.to;
}
