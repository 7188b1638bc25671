/** Acts on images that are behind: the first action of the policy that applies to an image is taken for it. */
import type { BaseAction, BaseImagePolicy, BasePolicySpec, RebaseAction, TriggerAction } from '../../core/model/base-policy.ts';
import type { BaseStatus, Dependent } from '../../core/model/base-status.ts';
import { defined } from '../../core/model/defined.ts';
import type { Repository } from '../../core/model/image-reference.ts';
import type { ImageSource } from '../../core/model/image-source.ts';
import { maxLengths } from '../../core/model/status-fields.ts';
import { actionAnnotations } from '../../core/model/policy-actions.ts';
import { cut } from '../../core/model/text.ts';
import type { Workload, WorkloadRef } from '../../core/model/workload.ts';
import { actionFor } from './action-for.ts';
import { describeCount } from '../../core/plan/approvals.ts';
import { countBaseApprovals, isBaseApproved, userRejection } from '../../core/plan/base-decisions.ts';
import { rejectionOf } from '../../core/plan/rejected-base.ts';
import type { ReplacementProgress, SelectedBase } from './plan-roll-out.ts';
import type { Line } from '../recognize/line.ts';
import type { KnownBases } from '../recognize/recognize-images.ts';
import type { RestartPorts } from './examine-restarts.ts';
import { awaitedRestarts, findOutdated, restartOutdated, type Restarted } from './restart-outdated.ts';
import { awaitsRebuiltCanaries, requestRebuilds, type RebuildPorts } from './request-rebuilds.ts';
import { rollOutRebased, type RebasePorts, type RolledOut } from './roll-out-rebased.ts';

/** A policy whose spec can be used. */
export type UsableBasePolicy = BaseImagePolicy & { readonly spec: BasePolicySpec };

/** An image that is behind, and the workloads that run it. */
export interface ImageBehind {
  readonly source: ImageSource;
  /** The tag of the image; undefined where workloads name it by its digest alone. */
  readonly tag: string | undefined;
  readonly digest: string;
  /** Whether workloads name the image by its digest. */
  readonly isPinned: boolean;
  /** The digest of the base that the image is built on. */
  readonly base: string;
  /** The tags of the base that the image is built on, as far as they are known, the one to compare first. */
  readonly baseTags?: readonly string[];
  /** The source that the image names as its own. */
  readonly builtFrom?: string;
  /** The digest of the earlier image that is built on the base, where this one was rebased from it on something else. */
  readonly origin?: string;
  readonly workloads: readonly WorkloadImages[];
}

/** The containers of a workload that run an image. */
export interface WorkloadImages {
  readonly workload: WorkloadRef;
  readonly containers: readonly string[];
  readonly hasInitContainers: boolean;
}

/** The state of an image for the status: what an action has done about it. */
export type ImageState = Pick<Dependent, 'state'> & Partial<Pick<Dependent, 'action' | 'reason' | 'message' | 'rebased' | 'at'>>;

/** An image by the tag and the digest under which workloads may name it. */
export interface TaggedImage {
  readonly repository: Repository;
  readonly tag: string;
  readonly digest: string;
}

/** The state of a policy that its actions start from. */
export interface Acting {
  readonly policy: UsableBasePolicy;
  readonly base: SelectedBase;
  readonly behind: readonly ImageBehind[];
  /** Images whose tag is built on the base already, while pods may still run the former image. */
  readonly current: readonly ImageBehind[];
  readonly versions: KnownBases & { readonly line: Line };
  readonly findWorkload: (ref: WorkloadRef) => Workload | undefined;
  /** Whether the policy selects a workload with these labels. */
  readonly selects: (workload: Pick<Workload, 'kind' | 'namespace' | 'labels'>) => boolean;
  /** Whether the owners of a workload may have consented; false where they are known not to. */
  readonly permits: (workload: Workload) => boolean;
  /** Whether any workload of the cluster names an image, also one that the policy does not select. */
  readonly isInUse: (image: TaggedImage) => boolean;
  /** Called before each write. Rejects, and aborts the signal, if the policy is not the one that the write was planned for. */
  readonly confirm: () => Promise<void>;
  /** Called before a wave begins. Rejects with PolicyChanged if somebody else has begun one, or has reported anything, since the policy was read. */
  readonly beginWave: (workloads: readonly string[]) => Promise<void>;
  /** Called before children are changed. Rejects with PolicyChanged if the policy was written since it was read: its writer may have created newer children. */
  readonly confirmUnchanged: () => Promise<void>;
  /** The current time, in ms since 1970. */
  readonly now: number;
  readonly signal: AbortSignal;
}

/** The states of images and the status after all actions. */
export interface Acted {
  readonly states: ReadonlyMap<ImageBehind, ImageState>;
  /** The rebased images that are rolled out, or have been. */
  readonly replacements?: readonly ReplacementProgress[];
  readonly status: Pick<BaseStatus, 'waves' | 'requests' | 'rejected' | 'pendingApproval'> & {
    /** When the window opens that restarts wait for. */
    readonly opensAt?: string;
    /** The number of requested rebuilds. */
    readonly requested?: number;
  };
  /** When to act again even if nothing changes. */
  readonly until?: Date;
}

export type ActPorts = RebasePorts & RebuildPorts & RestartPorts;

/** Acts on the images that are behind. Idempotent: what an earlier call did is found and not repeated. */
export async function act(acting: Acting, ports: ActPorts): Promise<Acted> {
  const { policy, base, behind } = acting;
  const chosen = behind.map((image) => ({ image, action: actionFor(image, policy.spec.onNewBase) }));
  const why = whyNot(policy, base, new Date(acting.now));
  const isReported = ({ action: { kind } }: Chosen) => kind === 'report' || kind === 'restart' || why !== undefined;
  const reported = chosen.filter(isReported).map(({ image, action: { kind: action } }): [ImageBehind, ImageState] => {
    if (action === 'restart') return [image, { state: 'Behind', action, message: image.isPinned ? staysPinned : awaitsImage }];
    return [image, { state: 'Behind', action, ...(action !== 'report' && why?.describe(action)) }];
  });
  const restarts = acting.current.filter((image) => actionFor(image, policy.spec.onNewBase).kind === 'restart');
  if (why !== undefined) {
    const { images, kept, until } = await findOutdated(acting, restarts, ports);
    const outdated = [...images].map((image): [ImageBehind, ImageState] => {
      return [image, { state: 'Behind', action: 'restart', ...why.describe('restart') }];
    });
    const isWaiting = why.isApproval === true && (outdated.length > 0 || chosen.some(({ action }) => action.kind !== 'report'));
    return {
      states: new Map([...reported, ...outdated, ...kept]),
      status: isWaiting ? { pendingApproval: { tag: base.tag, digest: base.digest } } : {},
      ...defined({ until }),
    };
  }
  const rebases = chosen.filter((one): one is Chosen<RebaseAction> => one.action.kind === 'rebase');
  const rebuilt = acting.current.map((image) => ({ image, action: actionFor(image, policy.spec.onNewBase) }));
  const triggers = [...chosen, ...rebuilt].filter((one): one is Chosen<TriggerAction> => one.action.kind === 'trigger');
  // Canaries come first, whichever action brings them forward.
  const awaitsRebuilds = rebases.length + restarts.length > 0 && awaitsRebuiltCanaries(acting, triggers);
  const restarting = await awaitedRestarts(acting, restarts, ports);
  const elsewhere = { ...restarting, isOpen: awaitsRebuilds || restarting.isOpen };
  const rollingOut = rollOutRebased(acting, rebases, ports, elsewhere);
  const requesting =
    policy.spec.waves.canaries === undefined
      ? requestRebuilds(acting, triggers, ports)
      : rollingOut.then(({ awaitsCanaries }) => {
          const awaited = awaitsCanaries ? 'rebased' : restarting.isOpen ? 'restarted' : undefined;
          return requestRebuilds(acting, triggers, ports, { awaited, areWaiting: awaitsRebuilds });
        });
  const [rolledOut, requested] = await Promise.all([rollingOut, requesting]);
  // The roll-outs run one after the other, so that `maxParallel` holds for both together. A rejected base is not rolled out.
  const isRejected = rejectionOf(policy, base, acting.now) !== undefined;
  const isTurn = isRejected || isOver(rolledOut) || ((restarting.isOpen || restarting.isUnderWay) && isAtRest(rolledOut));
  const restarted: Restarted = isTurn ? await restartOutdated(acting, restarts, ports, awaitsRebuilds || !isOver(rolledOut)) : nothing;
  const parts = [rolledOut, requested, restarted];
  // What follows from a rejection is done when it is recorded, and nothing else may happen that begins a reconcile.
  const isRejectedNow = parts.some(({ status }) => status.rejected !== undefined);
  const untils = [
    ...parts.flatMap(({ until }) => until?.getTime() ?? []),
    ...(isRejectedNow ? [acting.now + afterRejectionMs] : awaitsRebuilds || restarting.isUnderWay ? [acting.now + canariesMs] : []),
  ];
  return {
    states: new Map([...reported, ...explainWait([...rolledOut.states, ...requested.states], restarted), ...restarted.states]),
    ...defined({ replacements: rolledOut.replacements }),
    status: { ...rolledOut.status, ...requested.status, ...restarted.status, ...wavesOf(rolledOut, restarted) },
    ...(untils.length > 0 && { until: new Date(Math.min(...untils)) }),
  };
}

/** The next reconcile after a base was rejected. */
const afterRejectionMs = 1_000;
/** How soon it is found that canaries which are rebuilt, or what is restarted, have rolled out. */
const canariesMs = 10_000;
const nothing: Acted = { states: new Map(), status: {} };
const awaitsImage = 'its workloads are restarted when the tag has an image on the new base';
const staysPinned = 'its workloads name it by its digest, which a restart does not change';

/** The states of images, where those that wait for their wave name the canary that is not restarted. */
function explainWait(states: readonly [ImageBehind, ImageState][], { blocked }: Restarted): readonly [ImageBehind, ImageState][] {
  if (blocked === undefined) return states;
  const message = cut(`it waits for ${blocked}`, maxLengths.message);
  const isWaiting = ({ state, reason }: ImageState) => state === 'Rebased' || reason === 'WavePending';
  return states.map(([image, state]) => [image, isWaiting(state) ? { ...state, message } : state]);
}

function isOver({ status: { waves } }: Acted): boolean {
  return waves === undefined || (waves.stopped === undefined && waves.pending + waves.progressing === 0);
}

/** Whether no rebased image is being rolled out, and no canary among them is left. What could not be rebased for now waits for its turn again. */
function isAtRest({ status: { waves }, awaitsCanaries = false }: RolledOut): boolean {
  return !awaitsCanaries && (waves === undefined || (waves.stopped === undefined && waves.progressing === 0));
}

/** The sum of the waves of rebased images and of restarts. */
function wavesOf({ status: { waves: a } }: Acted, { status: { waves: b } }: Acted): Pick<BaseStatus, 'waves'> {
  const one = a ?? b;
  if (a === undefined || b === undefined) return one === undefined ? {} : { waves: one };
  const sum = (field: 'pending' | 'progressing' | 'done' | 'failed') => a[field] + b[field];
  return { waves: { ...a, ...b, pending: sum('pending'), progressing: sum('progressing'), done: sum('done'), failed: sum('failed') } };
}

/** An image with the action that applies to it. */
export interface Chosen<A extends BaseAction = BaseAction> {
  readonly image: ImageBehind;
  readonly action: A;
}

/** Why nothing is done for a base yet, and the note of an image that an action applies to. */
interface WhyNot {
  readonly isApproval?: true;
  readonly describe: (action: string) => Required<Pick<ImageState, 'reason' | 'message'>>;
}

/** Why nothing is done for a base; undefined if its actions are taken. What somebody has rejected is not rolled back, because nothing of it has failed. */
function whyNot(policy: UsableBasePolicy, base: SelectedBase, now: Date): WhyNot | undefined {
  if (policy.spec.base.mode === 'DryRun')
    return { describe: (action) => ({ reason: 'DryRun', message: `mode: DryRun: ${action} would apply` }) };
  const rejection = userRejection(policy, base, now);
  if (rejection !== undefined)
    return { describe: () => ({ reason: 'RejectedByUser', message: cut(`${base.tag} was ${rejection.message}`, maxLengths.message) }) };
  if (isBaseApproved(policy, base, now)) return undefined;
  const message = describeApproval(policy, base, now);
  return {
    isApproval: true,
    describe: (action) => ({ reason: 'ApprovalRequired', message: cut(`${action} waits for ${message}`, maxLengths.message) }),
  };
}

function describeApproval(policy: UsableBasePolicy, { tag, digest }: SelectedBase, now: Date): string {
  const { namespace, name } = policy;
  const count = countBaseApprovals(policy, { tag, digest }, now);
  if (count === undefined)
    return `the approval of ${tag}: annotate BaseImagePolicy ${namespace}/${name} with ${actionAnnotations.approve}: ${tag}@${digest}`;
  return `approvals of ${tag}: ${describeCount(count)}: approve it with image-watcher approve -n ${namespace} bipol/${name}, or on the dashboard`;
}
