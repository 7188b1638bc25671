/**
 * What we did to a container last, as its workload carries it: an annotation for each container, written by the same request as the image. So what runs
 * by our hand, since when, and what ran before is known of any number of workloads, and after a crash. One for each, because two policies may
 * change two containers of a workload at the same moment.
 */
import { tryParseImageReference } from './image-reference.ts';
import type { ContainerChange } from './plan-update.ts';
import type { TriggerSource } from './policy-status.ts';
import { fieldManager } from './field-manager.ts';
import { toSeconds } from './status-text.ts';
import type { Workload, WorkloadContainer } from './workload.ts';

export interface LastUpdate {
  /** The uid of the policy. */
  readonly policy: string;
  readonly at: string;
  readonly trigger: TriggerSource;
  readonly from: string;
  /** What was asked for; admission may have made another image of it. */
  readonly to: string;
  /** What the tag pointed to. */
  readonly digest?: string;
}

/** The container's name follows. */
export const updateAnnotations = 'last-update.operator.technomad.dev/';

const maxImageLength = 512;
const triggers: Readonly<Record<TriggerSource, true>> = {
  Webhook: true,
  Poll: true,
  PolicyChange: true,
  TargetChange: true,
  SecretChange: true,
  WaitOver: true,
  Approval: true,
  Rollback: true,
  Request: true,
};

/** The changes with what their workload is to remember of them; nothing where nothing rolls out, or an image is of absurd length. */
export function withUpdates(
  { rollout }: Pick<Workload, 'rollout'>,
  changes: readonly ContainerChange[],
  { policy, trigger, at, digest }: { policy: string; trigger: TriggerSource; at: Date; digest?: string | undefined },
): ContainerChange[] {
  if (rollout === undefined) return [...changes];
  return changes.map((change) => {
    const { from, to, fields } = change;
    if (fields !== undefined || Math.max(from.length, to.length) > maxImageLength) return change;
    return { ...change, update: { policy, at: toSeconds(at), trigger, from, to, ...(digest !== undefined && { digest }) } };
  });
}

/** The annotation's value. */
export function formatLastUpdate({ policy, at, trigger, from, to, digest }: LastUpdate): string {
  return JSON.stringify({ policy, at, trigger, from, to, ...(digest !== undefined && { digest }) });
}

/** Reads the annotation's value; undefined for what we would not have written: anybody may write there. */
export function parseLastUpdate(value: unknown): LastUpdate | undefined {
  const { policy, at, trigger, from, to, digest } = parseObject(value);
  if (!isShort(policy, 64) || !isShort(at, 32) || !isTime(at) || !isTrigger(trigger)) return undefined;
  if (!isShort(from, maxImageLength) || !isShort(to, maxImageLength)) return undefined;
  return { policy, at, trigger, from, to, ...(isShort(digest, 160) && { digest }) };
}

/** What a policy did to a container last, while that still holds. */
export function ownUpdate(container: WorkloadContainer, policy: string): LastUpdate | undefined {
  return container.lastUpdate?.policy === policy ? heldUpdate(container) : undefined;
}

/**
 * What was done to a container last, while it runs by our hand what was made of it; undefined where it does not, or where what ran before was of
 * another name: the annotation is no way to have us run something else.
 */
export function heldUpdate(container: WorkloadContainer): LastUpdate | undefined {
  if (container.lastUpdate === undefined) return undefined;
  const known = judged.get(container);
  if (known !== undefined) return known.held;
  const held = judge(container);
  judged.set(container, { held });
  return held;
}

/** Hundreds of workloads are asked at each change of one of them. */
const judged = new WeakMap<WorkloadContainer, { readonly held: LastUpdate | undefined }>();

function judge({ image, imageOwner, lastUpdate }: WorkloadContainer): LastUpdate | undefined {
  if (lastUpdate === undefined || imageOwner !== fieldManager) return undefined;
  const [runs, to, from] = [image, lastUpdate.to, lastUpdate.from].map((text) => tryParseImageReference(text));
  if (runs === undefined || to === undefined || from?.name !== runs.name) return undefined;
  const isSame = runs.digest !== undefined && to.digest !== undefined ? runs.digest === to.digest : runs.tag === to.tag;
  return isSame ? lastUpdate : undefined;
}

function parseObject(value: unknown): Readonly<Record<string, unknown>> {
  try {
    const parsed: unknown = typeof value === 'string' ? JSON.parse(value) : undefined;
    return typeof parsed === 'object' && parsed !== null ? { ...parsed } : {};
  } catch {
    // Somebody else's text.
    return {};
  }
}

function isShort(value: unknown, max: number): value is string {
  return typeof value === 'string' && value !== '' && value.length <= max;
}

/** Whole seconds of a year with four digits: what is added to the last moment that there is makes no time any more. */
function isTime(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(text) && !Number.isNaN(Date.parse(text));
}

function isTrigger(value: unknown): value is TriggerSource {
  return typeof value === 'string' && Object.hasOwn(triggers, value);
}
