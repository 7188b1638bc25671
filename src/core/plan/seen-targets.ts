/**
 * Reads the running images of a policy's targets from the workloads. `status.running` and `status.targets` are made from this reading, whatever else is wrong
 * with the policy. It also shows when a status is outdated. Pure.
 */
import { defined } from '../model/defined.ts';
import { isUsable, scopeOf, type ImagePolicy, type PolicyTarget } from '../model/image-policy.ts';
import { noAliases, type RegistryAliases } from '../model/image-reference.ts';
import { fieldManager, heldUpdate, lastUpdateOf } from '../model/last-update.ts';
import { maxTargetsListed, type ContainerState } from '../model/policy-status.ts';
import { maxLengths } from '../model/status-fields.ts';
import { resolveTarget, type WorkloadView } from '../model/resolve-target.ts';
import { runningTag } from '../model/running-image.ts';
import { cut } from '../model/text.ts';
import {
  findContainer,
  identityOf,
  isSameObject,
  isSameWorkload,
  workloadKey,
  type Workload,
  type WorkloadIdentity,
} from '../model/workload.ts';
import type { ConsentRules } from './consent.ts';
import type { TargetState } from './plan-update.ts';
import { companionsIn } from './plan-companions.ts';
import { runningImagesOf } from './running-images.ts';
import { hashOfTargets } from './unlisted-targets.ts';

/** A container, or a target without one. The tag is absent if it is not known. */
export interface SeenContainer extends WorkloadIdentity {
  readonly container?: string;
  /** Whether the container runs a companion of the policy's image. */
  readonly companion?: boolean;
  readonly image?: string;
  readonly tag?: string;
}

/** The workloads that a policy may see, and whether all of them are known. */
export interface TargetsView extends WorkloadView, Partial<Pick<ConsentRules, 'namespaceConsent' | 'crossNamespace'>> {
  readonly aliases?: RegistryAliases;
  readonly targetState?: (target: PolicyTarget, policy: Pick<ImagePolicy, 'namespace'>) => TargetState;
}

interface Seen extends SeenContainer {
  readonly container: string;
  readonly image: string;
  readonly workload: Workload;
}

/** The containers with the policy's repository, and those of its companions. Undefined while workloads or consents are not known yet, or for a spec whose repository cannot be read. */
export function seeTargets(policy: ImagePolicy, view: TargetsView): readonly Seen[] | undefined {
  const { status, namespace } = policy;
  const spec = scopeOf(policy.spec);
  if (spec === undefined) return undefined;
  const { aliases = noAliases, targetState } = view;
  const states = spec.targets.map((target) => ({ target, state: targetState?.(target, policy) }));
  if (states.some(({ target, state }) => state === 'starting' || !isConsentKnown(target.namespace, namespace, view))) return undefined;
  const found = new Map<string, Seen>();
  for (const { target, state } of states) {
    if (typeof state === 'object' && 'problem' in state) continue;
    for (const workload of resolveTarget(target, view)) {
      for (const { container, image, reference } of runningImagesOf(target, workload, spec, { aliases, findWorkload: view.findWorkload })) {
        const tag = runningTag(reference, { status, workload, container });
        const seen = { ...identityOf(workload), workload, container, image, ...defined({ tag }) };
        found.set(`${workloadKey(workload)}/${container}`, seen);
      }
      const beside = isUsable(policy.spec) ? companionsIn(workload, policy.spec, aliases) : [];
      for (const { container, image, reference } of beside) {
        const seen = { ...identityOf(workload), workload, container, image, companion: true, ...defined({ tag: reference.tag }) };
        found.set(`${workloadKey(workload)}/${container}`, seen);
      }
    }
  }
  return [...found.values()];
}

function isConsentKnown(namespace: string, own: string, { namespaceConsent, crossNamespace }: TargetsView): boolean {
  const isDecided = namespace === own || crossNamespace === 'allow' || crossNamespace === 'deny';
  return isDecided || namespaceConsent === undefined || namespaceConsent(namespace) !== undefined;
}

/** How long the reconcile that changed an image may take to report it, in ms. */
const reportMs = 60_000;

/** Options for the comparison of containers with a status. */
export interface Compared {
  readonly now: Date;
  /** Whether workloads that the status does not show are compared as well. They may be created one after the other, and are reported together. */
  readonly withNew: boolean;
}

/**
 * The containers for which a status is outdated: other images, deleted or renamed ones, new ones. A change that the policy itself made a moment ago is left
 * out, because it is about to be reported. Empty if the status is up to date, or if that is not known.
 */
export function changedTargets(policy: ImagePolicy, view: TargetsView, { now, withNew }: Compared): string[] {
  const seen = seeTargets(policy, view);
  if (seen === undefined) return [];
  const { targets = [], targetCounts } = policy.status;
  const listed = targets.filter((state) => state.container !== undefined && isConsentKnown(state.namespace, policy.namespace, view));
  const isWhole = (targetCounts?.total ?? 0) <= maxTargetsListed;
  const shown = (one: Seen) => listed.find((state) => isSameContainer(state, one));
  const other = seen.filter((one) => {
    const state = shown(one);
    if (state !== undefined) return isOther(state, one) && !isReported(one, policy.uid, now);
    const isNew = !targets.some((known) => isSameWorkload(known, one));
    return isWhole && (withNew || !isNew) && !isReported(one, policy.uid, now);
  });
  const gone = listed.filter((state) => !seen.some((one) => isSameContainer(state, one)));
  const unlisted = seen.filter((one) => shown(one) === undefined);
  return [
    ...changedUnlisted(unlisted, policy, { now, withNew }, listed.length + unlisted.length),
    ...other.map((one) => `${workloadKey(one)}:${one.uid ?? ''}:${one.workload.generation}:${one.container}:${one.image}`),
    ...gone.map((one) => `${workloadKey(one)}:${one.uid ?? ''}:${one.container ?? ''}`),
  ];
}

/** Compares the containers that the status does not list as a whole, unless one is about to be reported, or new workloads do not count. */
function changedUnlisted(
  unlisted: readonly Seen[],
  { uid, status: { targetCounts } }: ImagePolicy,
  { now, withNew }: Compared,
  total: number,
): string[] {
  if (targetCounts?.unlisted === undefined || (!withNew && total !== targetCounts.total)) return [];
  const found = hashOfTargets(unlisted) ?? '';
  return found === targetCounts.unlisted || unlisted.some((one) => isReported(one, uid, now)) ? [] : [`unlisted:${found}`];
}

/** Whether a container runs another image than the status shows. */
function isOther({ image }: ContainerState, seen: Seen): boolean {
  return image !== undefined && image !== cut(seen.image, maxLengths.image);
}

/** Whether a change of the container by the policy is about to be reported: its record says that it was made a moment ago. */
function isReported({ workload, container, image }: Seen, policy: string, now: Date): boolean {
  const update = lastUpdateOf(workload, container);
  const found = findContainer(workload, container);
  if (found === undefined ? image !== update?.to : found.imageOwner !== fieldManager) return false;
  if (update !== undefined && (update.policy !== policy || (found !== undefined && heldUpdate(found) === undefined))) return false;
  // The field manager has the time of the API server, and the record that of a replica, whose clock may be ahead.
  const times = [update?.at, found?.imageSetAt].map((time) => Date.parse(time ?? '')).filter((time) => !Number.isNaN(time));
  return times.length > 0 && now.getTime() - Math.min(...times) < reportMs;
}

function isSameContainer(state: ContainerState, seen: Seen): boolean {
  return state.container === seen.container && isSameObject(state, seen);
}
