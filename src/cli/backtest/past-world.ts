/** A policy, a workload and a registry of the past, with a clock of their own. What decides is the processor of the service. */
import { defined } from '../../core/model/defined.ts';
import type { ImagePolicy, PolicySpec } from '../../core/model/image-policy.ts';
import { noEvidence } from '../../core/model/vulnerabilities.ts';
import { WaitError, PermanentError } from '../../core/model/errors.ts';
import type { Reason } from '../../core/model/reasons.ts';
import type { ContainerChange } from '../../core/model/workload.ts';
import type { Outcome } from '../../core/plan/outcome.ts';
import { waitJob } from '../../service/reconcile/enqueue/wait-job.ts';
import type { Ports } from '../../service/reconcile/ports.ts';
import { reconcileAndReport } from '../../service/reconcile/process-policy.ts';
import { createLogger } from '../../service/telemetry/logger.ts';
import { createMetrics } from '../../service/telemetry/metrics.ts';
import { noLog } from '../once/no-log.ts';
import type { PastImage } from './past-image.ts';
import { createPastPolicy } from './past-policy.ts';
import { createPastRegistry } from './past-registry.ts';
import { createPastWorkload, type FirstImage } from './past-workload.ts';

/** What the policy decided at one time. */
export interface Decision {
  /** The time of the decision, in ms since 1970. */
  readonly at: number;
  /** The tag that was pushed; absent if a wait was over, or if the policy began. */
  readonly pushed?: string;
  readonly kind: Outcome['kind'] | 'failed';
  readonly reason: Reason;
  readonly message: string;
  /** The image that the decision is about. */
  readonly tag?: string | undefined;
  readonly digest?: string | undefined;
  /** What was changed. */
  readonly changes: readonly ContainerChange[];
  /** Whether the policy decides again at once, about all images. */
  readonly isUnfinished: boolean;
  /** When the policy decides again although nothing is pushed, in ms since 1970. */
  readonly next?: number;
}

export interface PastWorld {
  /** Adds an image to the registry, without a decision. */
  add(image: PastImage): void;
  /** Decides at a time, in ms since 1970, which is never before that of the last decision. `pushed`: an image that was added, as a webhook announces it. */
  decide(at: number, signal: AbortSignal, pushed?: PastImage): Promise<Decision>;
  /** The image that the container of the policy's own image runs. */
  running(): string;
  policy(): ImagePolicy;
}

/** Creates the world, with a workload that runs these images; that of the policy is the first. `repeatsPerHour`: as in the configuration (`guards`). */
export function createPastWorld(
  policy: ImagePolicy & { readonly spec: PolicySpec },
  images: readonly FirstImage[],
  repeatsPerHour: number,
): PastWorld {
  let time = 0;
  const now = () => time;
  let made: ContainerChange[] = [];
  let added = 0;
  const { target, view, workloads, imageOf } = createPastWorkload(policy.namespace, images, now, (changes) => made.push(...changes));
  const played = { ...policy, spec: { ...policy.spec, targets: [target] } };
  const { registry, push } = createPastRegistry(policy.spec.platforms ?? [], now);
  const { policies, policy: newest } = createPastPolicy(played, now);
  const ports: Ports = {
    policies,
    cluster: {
      ...view,
      now,
      aliases: new Map(),
      crossNamespace: 'deny',
      namespaceConsent: () => null,
      repeatsPerHour,
    },
    workloads,
    registry,
    signatures: { verify: async () => ({ kind: 'verified', by: 'nobody' }) },
    vulnerabilities: { read: async () => noEvidence },
    report: { recordEvent: () => {}, eventLog: noLog, metrics: createMetrics(), logger: createLogger('silent') },
    queues: { addPolicyJobs: async (jobs) => void (added += jobs.length), repeatPushes: async () => {} },
    bases: { onPush: async () => [] },
  };
  const { namespace, name, uid } = policy;
  return {
    add: push,
    running: () => imageOf(images[0]?.container ?? ''),
    policy: newest,
    async decide(at, signal, pushed) {
      time = at;
      [made, added] = [[], 0];
      const hint = pushed && { tag: pushed.tag, digest: pushed.digest, repository: pushed.repository };
      const receivedAt = new Date(at).toISOString();
      const cause = { source: pushed === undefined ? 'WaitOver' : 'Webhook', receivedAt, isHinted: pushed !== undefined } as const;
      const request = { policy: { namespace, name, uid }, announced: pushed !== undefined, ...defined({ hint }) };
      const attempt = { request, cause, failures: 0, isLastTry: false, wasLost: false, isOurs: async () => true, signal };
      const found: Found = await reconcileAndReport(attempt, ports).catch((error: unknown) => failureOf(error, signal));
      const wait = waitJob(newest());
      const { kind, reason, message, tag, digest } = found;
      const next = found.until ?? (wait === undefined ? undefined : Date.parse(wait.receivedAt));
      return {
        at,
        kind,
        reason,
        message,
        tag,
        digest,
        changes: made,
        isUnfinished: added > 0,
        ...(pushed !== undefined && { pushed: pushed.tag }),
        ...defined({ next }),
      };
    },
  };
}

type Found = Pick<Decision, 'kind' | 'reason' | 'message' | 'tag' | 'digest'> & { readonly until?: number };

/** What a policy could not do, as a decision. Throws what is no decision. */
function failureOf(error: unknown, signal: AbortSignal): Found {
  signal.throwIfAborted();
  if (error instanceof WaitError) return { kind: 'waiting', reason: error.reason, message: error.message, until: error.until.getTime() };
  if (error instanceof PermanentError) return { kind: 'failed', reason: error.reason, message: error.message };
  throw error;
}
