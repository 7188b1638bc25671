/** What is done about images that are behind: the first action of the policy that applies to each. */
import type {
  BaseAction,
  BaseImagePolicy,
  BasePolicySpec,
  BaseStatus,
  Dependent,
  RebaseAction,
  TriggerAction,
} from '../../core/model/base-policy.ts';
import type { ImageSource } from '../../core/model/image-source.ts';
import { actionAnnotations, isApproved } from '../../core/model/policy-actions.ts';
import type { Workload, WorkloadRef } from '../../core/model/workload.ts';
import { actionFor } from './action-for.ts';
import { rejectionOf, type SelectedBase } from './plan-roll-out.ts';
import type { BaseVersions } from '../recognize/recognize-images.ts';
import type { RestartPorts } from './examine-restarts.ts';
import { findOutdated, restartOutdated } from './restart-outdated.ts';
import { requestRebuilds, type RebuildPorts } from './request-rebuilds.ts';
import { rollOutRebased, type RebasePorts } from './roll-out-rebased.ts';

/** A policy whose spec can be used. */
export type UsableBasePolicy = BaseImagePolicy & { readonly spec: BasePolicySpec };

/** An image that is behind, and the workloads that run it. */
export interface ImageBehind {
  readonly source: ImageSource;
  /** Undefined where workloads name it by its digest alone. */
  readonly tag: string | undefined;
  readonly digest: string;
  /** Whether workloads name it by its digest. */
  readonly isPinned: boolean;
  /** The digest of the base that it is built on. */
  readonly base: string;
  /** Its tag, if it is known. */
  readonly baseTag?: string;
  /** The source that the image names as its own. */
  readonly builtFrom?: string;
  readonly workloads: readonly WorkloadImages[];
}

/** The containers of a workload that run an image. */
export interface WorkloadImages {
  readonly workload: WorkloadRef;
  readonly containers: readonly string[];
  readonly hasInitContainers: boolean;
}

/** What is done about an image, for the status. */
export type ImageState = Pick<Dependent, 'state'> & Partial<Pick<Dependent, 'action' | 'reason' | 'message' | 'rebased' | 'at'>>;

/** The actions for one state of a policy. */
export interface Acting {
  readonly policy: UsableBasePolicy;
  readonly base: SelectedBase;
  readonly behind: readonly ImageBehind[];
  /** Those whose tag has an image on the base; pods may still run the one before. */
  readonly current: readonly ImageBehind[];
  readonly versions: BaseVersions;
  readonly findWorkload: (ref: WorkloadRef) => Workload | undefined;
  /** Whether the policy selects a workload with these labels. */
  readonly selects: (workload: Pick<Workload, 'kind' | 'namespace' | 'labels'>) => boolean;
  /** Whether the owners of a workload may have consented: false where they are known not to. */
  readonly permits: (workload: Workload) => boolean;
  /** Called before each act: rejects, and aborts the signal, unless the policy is still what the act was planned for. */
  readonly confirm: () => Promise<void>;
  /** Called before a wave begins: rejects with PolicyChanged where somebody else has begun one, or reported anything, since the policy was read. */
  readonly beginWave: (workloads: readonly string[]) => Promise<void>;
  /** Called before children are changed: rejects with PolicyChanged where anything was written to the policy since it was read, as by whoever created children that are newer. */
  readonly confirmUnchanged: () => Promise<void>;
  /** In ms since 1970. */
  readonly now: number;
  readonly signal: AbortSignal;
}

/** The result. */
export interface Acted {
  readonly states: ReadonlyMap<ImageBehind, ImageState>;
  readonly status: Pick<BaseStatus, 'waves' | 'requests' | 'rejected' | 'pendingApproval'> & {
    /** When the window opens that restarts wait for. */
    readonly opensAt?: string;
    /** How many rebuilds are requested. */
    readonly requested?: number;
  };
  /** When to act again, although nothing has changed. */
  readonly until?: Date;
}

export type ActPorts = RebasePorts & RebuildPorts & RestartPorts;

/** Acts on the images that are behind. Idempotent: what was done before is found and not repeated. */
export async function act(acting: Acting, ports: ActPorts): Promise<Acted> {
  const { policy, base, behind } = acting;
  const { mode } = policy.spec.base;
  const chosen = behind.map((image) => ({ image, action: actionFor(image, policy.spec.onNewBase) }));
  const why = mode === 'DryRun' ? describeDryRun : mode === 'Approval' && !isApproved(policy.actions, base) ? describeApproval : undefined;
  const isReported = ({ action: { kind } }: Chosen) => kind === 'report' || kind === 'restart' || why !== undefined;
  const reported = chosen.filter(isReported).map(({ image, action: { kind: action } }): [ImageBehind, ImageState] => {
    if (action === 'restart') return [image, { state: 'Behind', action, message: awaitsImage }];
    const note = action === 'report' || why === undefined ? {} : why(action, policy, base);
    return [image, { state: 'Behind', action, ...note }];
  });
  const restarts = acting.current.filter((image) => actionFor(image, policy.spec.onNewBase).kind === 'restart');
  if (why !== undefined) {
    const { images, kept, until } = await findOutdated(acting, restarts, ports);
    const outdated = [...images].map((image): [ImageBehind, ImageState] => {
      return [image, { state: 'Behind', action: 'restart', ...why('restart', policy, base) }];
    });
    const isWaiting = why === describeApproval && (outdated.length > 0 || chosen.some(({ action }) => action.kind !== 'report'));
    return {
      states: new Map([...reported, ...outdated, ...kept]),
      status: isWaiting ? { pendingApproval: { tag: base.tag, digest: base.digest } } : {},
      ...(until !== undefined && { until }),
    };
  }
  const rebases = chosen.filter((one): one is Chosen<RebaseAction> => one.action.kind === 'rebase');
  const triggers = chosen.filter((one): one is Chosen<TriggerAction> => one.action.kind === 'trigger');
  const [rolledOut, requested] = await Promise.all([rollOutRebased(acting, rebases, ports), requestRebuilds(acting, triggers, ports)]);
  // One roll-out after the other, so that `maxParallel` and `maxFailures` hold for both together. For a rejected base nothing begins, and what has failed is shown.
  const isRejected = rejectionOf(policy, base, acting.now) !== undefined;
  const restarted = isRejected || isOver(rolledOut) ? await restartOutdated(acting, restarts, ports) : nothing;
  const untils = [rolledOut.until, requested.until, restarted.until].flatMap((until) => until?.getTime() ?? []);
  return {
    states: new Map([...reported, ...rolledOut.states, ...requested.states, ...restarted.states]),
    status: { ...rolledOut.status, ...requested.status, ...restarted.status, ...wavesOf(rolledOut, restarted) },
    ...(untils.length > 0 && { until: new Date(Math.min(...untils)) }),
  };
}

const nothing: Acted = { states: new Map(), status: {} };
const awaitsImage = 'its workloads are restarted when the tag has an image on the new base';

function isOver({ status: { waves } }: Acted): boolean {
  return waves === undefined || (waves.stopped === undefined && waves.pending + waves.progressing === 0);
}

/** Both roll-outs as one. */
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

function describeDryRun(action: string) {
  return { reason: 'DryRun', message: `mode: DryRun: ${action} would apply` };
}

function describeApproval(action: string, { namespace, name }: BaseImagePolicy, { tag, digest }: SelectedBase) {
  const hint = `annotate BaseImagePolicy ${namespace}/${name} with ${actionAnnotations.approve}: ${tag}@${digest}`;
  return { reason: 'ApprovalRequired', message: `${action} waits for the approval of ${tag}: ${hint}` };
}
