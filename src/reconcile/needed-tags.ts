import type { Candidate } from '../model/image-reference.ts';
import { asSeenBy, type Asker } from '../plan/consent.ts';
import type { ImagePolicy, PolicySpec } from '../model/image-policy.ts';
import { knownDigests, runningTags } from '../plan/running-images.ts';
import { inSlices } from '../async/in-parallel.ts';
import type { PlanPorts } from './plan-with.ts';

/** The tags that a candidate is compared with: the running, the selected and the pending ones. */
export function neededTags(policy: Asker & Pick<ImagePolicy, 'status'>, spec: PolicySpec, ports: PlanPorts): string[] {
  const { status } = policy;
  const running = runningTags(spec, asSeenBy(policy, ports), ports.aliases);
  const remembered = [status.latest?.tag, status.waiting?.tag].filter((tag) => tag !== undefined);
  return [...new Set([...running, ...remembered])].filter((tag) => spec.strategy.reject(tag) === undefined);
}

/** Whether a policy knew this digest of a tag before the registry was asked. */
export function isKnown(
  { tag, digest }: Candidate,
  policy: Asker & Pick<ImagePolicy, 'status'>,
  spec: PolicySpec,
  ports: PlanPorts,
): boolean {
  return digest !== undefined && knownDigests(tag, spec, policy.status, asSeenBy(policy, ports), ports.aliases).has(digest);
}

/**
 * The spec with a strategy that caches its answers about tags for one reconcile. The running tags are evaluated first, in slices, because plans compare all of
 * them at once.
 */
export async function rememberTags(policy: Asker, spec: PolicySpec, ports: PlanPorts, signal: AbortSignal): Promise<PolicySpec> {
  const strategy = spec.strategy.remembering?.();
  if (strategy === undefined) return spec;
  await inSlices(runningTags(spec, asSeenBy(policy, ports), ports.aliases), signal, (tag) => strategy.reject(tag));
  return { ...spec, strategy };
}
