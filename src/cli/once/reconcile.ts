/** Reconciles a policy once in this process, with the processor of the service. A job that it would enqueue is run here, or left to a later run. */
import { setTimeout as delay } from 'node:timers/promises';
import { defined } from '../../core/model/defined.ts';
import { WaitError } from '../../core/model/errors.ts';
import type { Reason } from '../../core/model/reasons.ts';
import { isUsable } from '../../core/model/image-policy.ts';
import { refOf, type WorkloadRef } from '../../core/model/workload.ts';
import { checksOf } from '../../core/plan/check-records.ts';
import type { Outcome } from '../../core/plan/outcome.ts';
import type { PolicyJob } from '../../service/queue/jobs.ts';
import type { Ports } from '../../service/reconcile/ports.ts';
import { reconcileAndReport } from '../../service/reconcile/process-policy.ts';
import { describeClusterError } from '../../service/command-line/cluster-errors.ts';
import type { KnownPolicy } from './policies.ts';
import type { Run } from './ports.ts';

/**
 * The kind of a result. changed: a workload was changed, or would be · unchanged: there was nothing to do · skipped: it is not for this command · blocked:
 * something is selected and not applied, or a user must act · failed: it could not be evaluated, or not be carried out.
 */
export type RunKind = 'changed' | 'unchanged' | 'skipped' | 'blocked' | 'failed';

/** A change that the API server has accepted. */
export interface MadeChange {
  readonly target: WorkloadRef;
  readonly container: string;
  readonly from: string;
  readonly to: string;
}

/** The result for one policy. */
export interface RunResult {
  /** The key of the policy: `shop/web`. */
  readonly policy: string;
  readonly result: RunKind;
  readonly reason?: Reason;
  readonly message: string;
  readonly tag?: string;
  readonly digest?: string;
  readonly changes: readonly MadeChange[];
  /** When a later run could make progress. */
  readonly until?: string;
  /** Why the status was not written although it should have been. */
  readonly unwritten?: string;
  /** The names of the checks of the image, which only the service asks. */
  readonly unasked?: readonly string[];
}

/** The longest pause asked for by a registry that the run waits for. */
const shortWaitMs = 5_000;
const maxTries = 5;

/** Reconciles one policy, and returns an error as its result. Rejects only with the signal's reason. */
export async function reconcileOnce(key: string, run: Run, signal: AbortSignal): Promise<RunResult> {
  const known = run.ports.policies.known(key);
  if (known === undefined) throw new Error(`${key} was not read`);
  const { policy, why } = known;
  if (why !== undefined)
    return { policy: key, result: 'blocked', reason: 'NamespaceNotSelected', message: why.replace(/^\w+: /, ''), changes: [] };
  if (policy.parent !== undefined) {
    const message = `BaseImagePolicy ${policy.parent.name} has created it, and only the service rolls such policies out`;
    return { policy: key, result: 'skipped', message, changes: [] };
  }
  const { ports, changes, takeJobs } = recording(run.ports);
  const result = await repeat(async (isLast) => {
    const outcome = await reconcileAndReport(attemptOf(known, signal), ports);
    // The service enqueues a job if somebody else has written the status during the reconcile. Here, the reconcile is repeated.
    return takeJobs().length > 0 && !isLast ? undefined : resultOf(outcome, changes.length > 0);
  }, signal);
  const { unwritten } = run.ports.policies.known(key) ?? known;
  const unasked = unaskedChecks(policy, result, changes.length > 0);
  return { policy: key, ...result, changes, ...defined({ unwritten }), ...(unasked.length > 0 && { unasked }) };
}

/** The names of the checks that hold the image back, or that a change of this run leaves to be asked. */
function unaskedChecks({ spec }: KnownPolicy['policy'], { reason }: Found, hasChanged: boolean): string[] {
  if (!isUsable(spec)) return [];
  const checks = reason === 'CheckPending' ? checksOf(spec, 'before') : hasChanged ? checksOf(spec, 'during', 'after') : [];
  return checks.map(({ name }) => name);
}

/** Wraps the ports to record changes and enqueued jobs. A reconcile that fails may have changed something before. */
function recording(ports: Ports): { readonly ports: Ports; readonly changes: readonly MadeChange[]; takeJobs(): readonly PolicyJob[] } {
  const changes: MadeChange[] = [];
  const jobs: PolicyJob[] = [];
  const patchImages: Ports['workloads']['patchImages'] = async (workload, wanted, ...rest) => {
    const result = await ports.workloads.patchImages(workload, wanted, ...rest);
    if (result.kind === 'patched')
      changes.push(...wanted.map(({ container, from, to }) => ({ target: refOf(workload), container, from, to })));
    return result;
  };
  const queues = { ...ports.queues, addPolicyJobs: async (added: readonly PolicyJob[]) => void jobs.push(...added) };
  return { ports: { ...ports, workloads: { ...ports.workloads, patchImages }, queues }, changes, takeJobs: () => jobs.splice(0) };
}

type Found = Omit<RunResult, 'policy' | 'changes' | 'unwritten' | 'unasked'>;

/** Repeats the work after short waits, and as long as it has no result. */
async function repeat(work: (isLast: boolean) => Promise<Found | undefined>, signal: AbortSignal): Promise<Found> {
  for (let tries = 1; ; tries++) {
    try {
      const found = await work(tries === maxTries);
      if (found !== undefined) return found;
    } catch (error) {
      signal.throwIfAborted();
      const waitMs = error instanceof WaitError ? error.until.getTime() - Date.now() : Number.POSITIVE_INFINITY;
      if (waitMs > shortWaitMs || tries === maxTries) return failureOf(error);
      await delay(Math.max(0, waitMs), undefined, { signal });
    }
  }
}

function attemptOf({ policy }: KnownPolicy, signal: AbortSignal): Parameters<typeof reconcileAndReport>[0] {
  const { namespace, name, uid, actions = {} } = policy;
  const { requestedAt } = actions;
  const cause = { source: 'Request', receivedAt: new Date().toISOString() } as const;
  return {
    request: { policy: { namespace, name, uid }, announced: false },
    cause: { ...cause, ...defined({ request: requestedAt }) },
    failures: 0,
    isLastTry: false,
    wasLost: false,
    isOurs: async () => true,
    signal,
  };
}

function resultOf(outcome: Outcome, hasChanged: boolean): Found {
  const { kind, tag, digest, pending, blocked = [] } = outcome;
  const until = pending?.next?.until;
  const [first] = kind === 'updated' ? blocked : [];
  const { reason, message } = first ?? outcome;
  const others = kind === 'updated' && blocked.length > 1 ? ` (and ${blocked.length - 1} more)` : '';
  return {
    result: kindOf(outcome, hasChanged),
    reason,
    message: message + others,
    ...defined({ tag, digest, until }),
  };
}

function kindOf({ kind, blocked = [] }: Outcome, hasChanged: boolean): RunKind {
  if (kind === 'suspended') return 'skipped';
  if (kind === 'stalled' || kind === 'waiting' || kind === 'ignored' || blocked.length > 0) return 'blocked';
  return hasChanged ? 'changed' : 'unchanged';
}

/** Reasons of waits that mean a failure of a registry or the API server. All other waits concern the image. */
const failing: ReadonlySet<Reason> = new Set<Reason>(['RegistryThrottled', 'RegistryUnavailable', 'RegistryBusy', 'Retrying']);

function failureOf(error: unknown): Found {
  if (!(error instanceof WaitError)) return { result: 'failed', message: describeClusterError(error) };
  const { reason, until, message } = error;
  return { result: failing.has(reason) ? 'failed' : 'blocked', reason, message, until: until.toISOString() };
}
