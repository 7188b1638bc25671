/** The processor of the queue `trigger`: requests one rebuild from its CI system, and records how far the request has come. */
import { isActiveBase, type BaseImagePolicy, type TriggerAction } from '../../core/model/base-policy.ts';
import { PermanentError, WaitError } from '../../core/model/errors.ts';
import { policyKey } from '../../core/model/image-policy.ts';
import { tryParseImageReference } from '../../core/model/image-reference.ts';
import { isApproved } from '../../core/model/policy-actions.ts';
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
  /** Whether the policy, as it was at most 3 s ago, is the one that was found, and has the base. */
  readonly isAsPlanned: (found: BaseImagePolicy, base: TriggerJob['base'], signal: AbortSignal) => Promise<boolean>;
  /** The text behind a key of a Secret, from the API server itself if `refresh`; throws an error that says what is missing. */
  readonly readSecret: (secret: SecretKey, options: { readonly refresh: boolean; readonly signal: AbortSignal }) => Promise<string>;
  /** Whether the configuration lets requests go to an origin: `https://api.github.com`. */
  readonly mayCall: (url: URL) => boolean;
  readonly send: (request: CiRequest, signal: AbortSignal) => Promise<SendResult>;
  readonly records: RebuildRecords;
  /** Has the policy report what was recorded. */
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
 * Requests the rebuild, unless the record says that it was requested. A process that dies between the request and the record sends it again, with the same id. Throws
 * to be retried: for a day, as every job.
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
    const next: RebuildState = { pipeline, source, state, at, ...text, ...(after !== undefined && { after }) };
    if (known?.state === state && known.message === next.message) return;
    // A wait begins when the rebuild was first wanted.
    await ports.records.write(uid, job.base.digest, state === 'Pending' ? { ...next, at: known?.at ?? at } : next);
    await ports.onRecorded(policy);
  };
  const fields = { policy: policyKey(policy), source: job.source, base: job.base.digest };
  const action = actionOf(policy, job);
  // The policy was changed or suspended, or has another base. Its next reconcile requests again what is still wanted.
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

/** Undefined unless the policy, as it is now, wants this rebuild: the job may be a day old, and anybody with write access to Redis may have written it. */
function actionOf(policy: BaseImagePolicy, { pipeline, base, source, image }: TriggerJob): TriggerAction | undefined {
  if (!isActiveBase(policy)) return undefined;
  const { spec, status, actions } = policy;
  if (spec.base.mode === 'DryRun') return undefined;
  if (status.latest?.digest !== base.digest || (spec.base.mode === 'Approval' && !isApproved(actions, base))) return undefined;
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
  /** A token that was refused may have been mended meanwhile. */
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
    // Reading the Secret may have taken long.
    if (!(await ports.isAsPlanned(policy, base, signal))) throw new Error('the policy has changed meanwhile');
    return await ports.send(request, signal);
  } catch (error) {
    if (error instanceof PermanentError) return { kind: 'failed', message: error.message };
    throw error;
  }
}
