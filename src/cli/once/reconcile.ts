/** One reconcile of a policy in this process, by the processor of the service; what that would queue is done at once, or left to a later run. */
import { setTimeout as delay } from 'node:timers/promises';
import { WaitError } from '../../core/model/errors.ts';
import type { Reason } from '../../core/model/reasons.ts';
import { refOf, type WorkloadRef } from '../../core/model/workload.ts';
import type { Outcome } from '../../core/plan/outcome.ts';
import type { PolicyJob } from '../../service/queue/jobs.ts';
import type { Ports } from '../../service/reconcile/ports.ts';
import { reconcileAndReport } from '../../service/reconcile/process-policy.ts';
import { describeClusterError } from '../../service/command-line/cluster-errors.ts';
import type { KnownPolicy } from './policies.ts';
import type { Run } from './ports.ts';

/**
 * changed: a workload was changed, or would be · unchanged: there was nothing to do · skipped: it is not for this command · blocked: something is selected and not
 * applied, or a user must act · failed: it could not be evaluated, or not be carried out.
 */
export type RunKind = 'changed' | 'unchanged' | 'skipped' | 'blocked' | 'failed';

/** A change that the API server has accepted. */
export interface MadeChange {
  readonly target: WorkloadRef;
  readonly container: string;
  readonly from: string;
  readonly to: string;
}

/** What became of one policy. */
export interface RunResult {
  /** `shop/web`. */
  readonly policy: string;
  readonly result: RunKind;
  readonly reason?: Reason;
  readonly message: string;
  readonly tag?: string;
  readonly digest?: string;
  readonly changes: readonly MadeChange[];
  /** When a later run would get further. */
  readonly until?: string;
  /** Why its status was not written, where it should have been. */
  readonly unwritten?: string;
}

/** A registry that asks for a short pause is waited for. */
const shortWaitMs = 5_000;
const maxTries = 5;

/** Reconciles one policy; an error is its result. Rejects only with the signal's reason. */
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
    // For a status that somebody else has written meanwhile, the service stores a job.
    return takeJobs().length > 0 && !isLast ? undefined : resultOf(outcome, changes.length > 0);
  }, signal);
  const { unwritten } = run.ports.policies.known(key) ?? known;
  return { policy: key, ...result, changes, ...(unwritten !== undefined && { unwritten }) };
}

/** The same ports, which record what was changed and what would be queued: also a reconcile that fails has changed something. */
function recording(ports: Ports): { readonly ports: Ports; readonly changes: readonly MadeChange[]; takeJobs(): readonly PolicyJob[] } {
  const changes: MadeChange[] = [];
  const jobs: PolicyJob[] = [];
  const patchImages: Ports['workloads']['patchImages'] = async (workload, wanted, ...rest) => {
    const result = await ports.workloads.patchImages(workload, wanted, ...rest);
    if (result.kind === 'patched')
      changes.push(...wanted.map(({ container, from, to }) => ({ target: refOf(workload), container, from, to })));
    return result;
  };
  const queues = { addPolicyJobs: async (added: readonly PolicyJob[]) => void jobs.push(...added) };
  return { ports: { ...ports, workloads: { ...ports.workloads, patchImages }, queues }, changes, takeJobs: () => jobs.splice(0) };
}

type Found = Omit<RunResult, 'policy' | 'changes' | 'unwritten'>;

/** Tries again after short waits, and as often as the work has no result. */
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
    cause: { ...cause, ...(requestedAt !== undefined && { request: requestedAt }) },
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
    ...(tag !== undefined && { tag }),
    ...(digest !== undefined && { digest }),
    ...(until !== undefined && { until }),
  };
}

function kindOf({ kind, blocked = [] }: Outcome, hasChanged: boolean): RunKind {
  if (kind === 'suspended') return 'skipped';
  if (kind === 'stalled' || kind === 'waiting' || kind === 'ignored' || blocked.length > 0) return 'blocked';
  return hasChanged ? 'changed' : 'unchanged';
}

/** Waits for a registry or the API server are failures of theirs; others are about the image. */
const failing: ReadonlySet<Reason> = new Set<Reason>(['RegistryThrottled', 'RegistryUnavailable', 'RegistryBusy', 'Retrying']);

function failureOf(error: unknown): Found {
  if (!(error instanceof WaitError)) return { result: 'failed', message: describeClusterError(error) };
  const { reason, until, message } = error;
  return { result: failing.has(reason) ? 'failed' : 'blocked', reason, message, until: until.toISOString() };
}
