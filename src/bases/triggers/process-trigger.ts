/** The processor of the queue `trigger`: requests one rebuild from its CI system, and records the state of the request. */
import { isActiveBase, type BaseImagePolicy, type TriggerAction } from '../../core/model/base-policy.ts';
import { defined } from '../../core/model/defined.ts';
import { PermanentError, WaitError } from '../../core/model/errors.ts';
import { policyKey } from '../../core/model/image-policy.ts';
import { tryParseImageReference } from '../../core/model/image-reference.ts';
import { isBaseApproved, userRejection } from '../../core/plan/base-decisions.ts';
import { rejectionOf } from '../../core/plan/rejected-base.ts';
import { matchesRepository } from '../../core/model/repository-pattern.ts';
import { cut } from '../../core/model/text.ts';
import type { TriggerJob } from '../../service/queue/jobs.ts';
import type { RebuildRecords } from '../../service/queue/rebuild-records.ts';
import type { JobContext } from '../../service/queue/worker.ts';
import type { Logger } from '../../service/telemetry/logger.ts';
import { addressOf, isProject, maySource, pipelineOf } from './find-project.ts';
import type { CiRequest, RebuildState } from './order.ts';
import type { SendResult } from './send-request.ts';
import { systems } from './systems/index.ts';

export interface TriggerPorts {
  readonly findPolicy: (namespace: string, name: string, signal: AbortSignal) => Promise<BaseImagePolicy | undefined>;
  /** Whether the policy, as it was at most 3 s ago, equals the one that was found, and has the base. */
  readonly isAsPlanned: (found: BaseImagePolicy, base: TriggerJob['base'], signal: AbortSignal) => Promise<boolean>;
  /** The value of a key of a Secret, from the API server itself if `refresh`. Throws an error that says what is missing. */
  readonly readSecret: (secret: SecretKey, options: { readonly refresh: boolean; readonly signal: AbortSignal }) => Promise<string>;
  /** Whether the configuration permits requests to an origin such as `https://api.github.com`. */
  readonly mayCall: (url: URL) => boolean;
  readonly send: (request: CiRequest, signal: AbortSignal) => Promise<SendResult>;
  readonly records: RebuildRecords;
  /** Makes the policy report the record. */
  readonly onRecorded: (policy: BaseImagePolicy) => Promise<void>;
  readonly logger: Logger;
  readonly now: () => number;
}

/** One key of a Secret. */
export interface SecretKey {
  readonly namespace: string;
  readonly name: string;
  readonly key: string;
}

const maxMessage = 1_024;

/**
 * Requests the rebuild, unless the record says that it was requested. A process that dies between the request and the record sends the request again with the
 * same id. Throws to be retried, for a day like every job.
 */
export async function processTrigger(job: TriggerJob, { isLastTry, signal, jobId: id }: JobContext, ports: TriggerPorts): Promise<void> {
  const { uid, namespace, name } = job.policy;
  const [found] = await ports.records.read(uid, job.base.digest, [job]);
  const known = found !== undefined && found.at === job.after ? undefined : found;
  if (known?.state === 'Requested') return;
  const policy = await ports.findPolicy(namespace, name, signal);
  if (policy?.uid !== uid) return;
  const record = async (state: RebuildState['state'], message?: string) => {
    const at = new Date(ports.now()).toISOString();
    const { pipeline, source, after } = job;
    const text = message === undefined ? {} : { message: cut(message, maxMessage) };
    const next: RebuildState = { pipeline, source, state, at, ...text, ...defined({ after }) };
    if (known?.state === state && known.message === next.message) return;
    // The time of the record is that at which the rebuild was first wanted.
    await ports.records.write(uid, job.base.digest, state === 'Pending' ? { ...next, at: known?.at ?? at } : next);
    await ports.onRecorded(policy);
  };
  const fields = { policy: policyKey(policy), source: job.source, base: job.base.digest };
  const action = actionOf(policy, job, ports.now());
  // The policy was changed or suspended, has another base, or has rejected this one. Its next reconcile requests again what is still wanted.
  if (action === undefined) return;
  const sent = await trySend(job, { id, policy, action, isRetry: found?.message !== undefined, signal }, ports);
  if (sent.kind === 'accepted') {
    ports.logger.info(fields, 'rebuild requested');
    return record('Requested');
  }
  ports.logger.warn({ ...fields, why: sent.message }, 'rebuild not accepted');
  if (sent.kind === 'refused' || isLastTry) return record('Failed', sent.message);
  await record('Pending', sent.message);
  if (sent.until !== undefined) throw new WaitError('RebuildPending', sent.until, sent.message);
  throw new Error(sent.message);
}

/** The action for this rebuild; undefined if the current policy does not want it. The job may be a day old, or written by anybody with access to Redis. */
function actionOf(policy: BaseImagePolicy, { pipeline, base, source, image }: TriggerJob, now: number): TriggerAction | undefined {
  if (!isActiveBase(policy) || rejectionOf(policy, base, now) !== undefined) return undefined;
  const { spec, status } = policy;
  const at = new Date(now);
  if (spec.base.mode === 'DryRun' || status.latest?.digest !== base.digest) return undefined;
  if (userRejection(policy, base, at) !== undefined || !isBaseApproved(policy, base, at)) return undefined;
  const repository = tryParseImageReference(image)?.repository;
  return spec.onNewBase.find((action): action is TriggerAction => {
    if (action.kind !== 'trigger' || pipelineOf(action.ci) !== pipeline || repository === undefined) return false;
    return (
      (action.ci.project !== '$source' || (isProject(source) && maySource(action, source))) &&
      action.images.some((pattern) => matchesRepository(pattern, repository))
    );
  });
}

interface Sending {
  readonly id: string;
  readonly policy: BaseImagePolicy;
  readonly action: TriggerAction;
  /** Whether the last try failed. A refused token may have been replaced since. */
  readonly isRetry: boolean;
  readonly signal: AbortSignal;
}

async function trySend(
  job: TriggerJob,
  { id, policy, action: { ci }, isRetry, signal }: Sending,
  ports: TriggerPorts,
): Promise<SendResult> {
  const { namespace, name } = policy;
  try {
    const url = addressOf(ci);
    const secret = ci.secret === undefined ? '' : await ports.readSecret({ namespace, ...ci.secret }, { refresh: isRetry, signal });
    const project = ci.project === undefined || ci.project === '$source' ? job.source : ci.project;
    const { base, source, image } = job;
    const rebuild = { id, policy: { namespace, name }, base, source, image };
    const now = new Date(ports.now());
    const request = systems[ci.system].build(rebuild, { url, project, name: ci.name ?? '', ref: ci.ref ?? '', secret, now });
    if (!ports.mayCall(request.url))
      return { kind: 'failed', message: `the configuration does not allow requests to ${request.url.origin}: add it to triggers.hosts` };
    // Checked again, because reading the Secret may have taken long.
    if (!(await ports.isAsPlanned(policy, base, signal))) throw new Error('the policy has changed meanwhile');
    return await ports.send(request, signal);
  } catch (error) {
    if (error instanceof PermanentError) return { kind: 'failed', message: error.message };
    throw error;
  }
}
