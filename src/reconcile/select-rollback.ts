import type { ImagePolicy, PolicySpec } from '../model/image-policy.ts';
import { formatRepository, type Candidate } from '../model/image-reference.ts';
import { withRollback } from '../status/next-actions.ts';
import type { Outcome } from '../plan/outcome.ts';
import { parseRollback, releaseTime } from '../model/policy-actions.ts';
import type { PolicyStatus } from '../model/policy-status.ts';
import { leftImages, rollbackImage } from '../plan/rollback.ts';
import type { ChoosePorts, Chosen } from './select.ts';
import type { PlanPorts } from './plan.ts';
import { formatTag } from './resolve-tag.ts';

export interface RollbackPorts extends Pick<ChoosePorts, 'headManifest' | 'sourceOf'>, Pick<PlanPorts, 'findWorkload' | 'aliases'> {
  readonly writeStatus: (
    policy: ImagePolicy,
    update: (status: PolicyStatus) => PolicyStatus | undefined,
    signal: AbortSignal,
  ) => Promise<void>;
  readonly clock: () => Date;
}

/**
 * The image that a user wants to roll back to. The image that is left is recorded before anything is changed: otherwise the reconcile after a crash could apply
 * it again.
 */
export async function chooseRollback(
  policy: ImagePolicy,
  spec: PolicySpec,
  wanted: string,
  ports: RollbackPorts,
  signal: AbortSignal,
): Promise<Chosen | Outcome> {
  const name = parseRollback(wanted);
  if (name === undefined) return refuse(`"${wanted}" is neither a tag nor "previous"`);
  const { findWorkload, aliases } = ports;
  const past = { spec, status: policy.status, findWorkload, aliases };
  const image = rollbackImage(past, name);
  if (image === undefined)
    return refuse(`the history of the policy holds no earlier image of ${formatRepository(spec.repository)} on its targets: name a tag`);
  const head = await ports.headManifest(ports.sourceOf(policy, spec), image.tag, signal);
  if (head === undefined) return refuse(`the registry holds no ${formatTag(spec.repository, image.tag)} any more`);
  // A pinned digest is what ran; a tag is resolved anew.
  const digest = spec.pin === 'Digest' ? (image.digest ?? head.digest) : head.digest;
  const candidate: Candidate = { tag: image.tag, digest };
  const left = leftImages(past, candidate);
  const when = { now: ports.clock(), released: releaseTime(policy.actions) };
  await ports.writeStatus(policy, (status) => withRollback(status, left, when), signal);
  return { candidate, isComplete: false, spec, notes: [] };
}

function refuse(why: string): Outcome {
  return { kind: 'unchanged', reason: 'NoEarlierImage', message: `nothing was rolled back: ${why}` };
}
