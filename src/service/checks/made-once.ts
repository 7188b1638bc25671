/** A check by an object that finds out by itself, such as a Job: it is made once for each question, over every crash, and then read. */
import { z } from 'zod';
import type { CheckAnswer } from '../../core/model/rollout-check.ts';
import { defined } from '../../core/model/defined.ts';
import type { KubeClient } from '../kube/client.ts';
import { isKubeError } from '../kube/kube-error.ts';
import { listPath, objectPath, readObject, type Resource } from '../kube/objects.ts';
import type { AskedAnswer, CheckRequest } from '../reconcile/checks/check-request.ts';

const prefix = 'operator.technomad.dev';
/** The annotation with which an owner allows what checks are made from, and its value. */
export const checkConsent = { name: `${prefix}/check`, value: 'allow' } as const;
const idAnnotation = `${prefix}/check-id`;

/** Schema of labels and annotations. */
export const texts = z.record(z.string(), z.string());
const made = z.looseObject({ metadata: z.object({ annotations: texts.exactOptional() }) });

/** How objects of a kind are made and read. */
export interface MadeKind {
  readonly resource: Resource & { readonly kind: string };
  /** The metadata and the spec of the object, or why there is none. */
  readonly make: () => Promise<MadeObject | string>;
  /** What the object says; undefined if it cannot be read. */
  readonly judge: (found: unknown, name: string) => CheckAnswer | undefined;
}

export interface MadeObject {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec: object;
}

/** The name of the object of a check: the same for each question, and another one when the check is begun anew. */
export function madeNameOf({ check, record }: Pick<CheckRequest, 'check' | 'record'>): string {
  return `${check.name.slice(0, 40).replace(/-+$/, '')}-${record.id.slice(0, 20)}`;
}

/** The annotations that say what an object is about. */
export function annotationsOf({ policy, check, record, image }: CheckRequest): Readonly<Record<string, string>> {
  return {
    [idAnnotation]: record.id,
    [`${prefix}/check-policy`]: policy.name,
    [`${prefix}/check-phase`]: check.phase,
    [`${prefix}/check-image`]: image,
    [`${prefix}/check-tag`]: record.tag,
    ...defined({ [`${prefix}/check-digest`]: record.digest }),
  };
}

/** Reads the object, or creates it unless the status says that it was created. */
export async function askMade({ resource, make, judge }: MadeKind, request: CheckRequest, client: KubeClient): Promise<AskedAnswer> {
  const { policy, record, signal } = request;
  const name = madeNameOf(request);
  const { apiVersion, kind } = resource;
  const found = await readObject<unknown>(client, objectPath(resource, policy.namespace, name), signal);
  if (found !== undefined) {
    const read = made.safeParse(found);
    if (read.success && read.data.metadata.annotations?.[idAnnotation] !== record.id)
      return { kind: 'none', message: `the ${kind} ${name} was not made for this check` };
    const answer = read.success ? judge(found, name) : undefined;
    return answer === undefined ? { kind: 'none', message: `the ${kind} ${name} cannot be read` } : { ...answer, created: true };
  }
  if (record.job === true) return { kind: 'none', message: `the ${kind} ${name} is gone before it had a verdict` };
  const wanted = await make();
  if (typeof wanted === 'string') return { kind: 'none', message: wanted };
  const { labels, annotations, spec } = wanted;
  const owner = { apiVersion: 'operator.technomad.dev/v1', kind: 'ImagePolicy', name: policy.name, uid: policy.uid };
  const metadata = {
    name,
    namespace: policy.namespace,
    ...defined({ labels }),
    annotations: { ...annotations, ...annotationsOf(request) },
    ownerReferences: [owner],
  };
  try {
    await client.request({
      method: 'POST',
      path: listPath(resource, policy.namespace),
      body: { apiVersion, kind, metadata, spec },
      signal,
    });
  } catch (error) {
    // Another replica was faster: the next question reads it.
    if (!isKubeError(error, 409)) throw error;
  }
  return { kind: 'none', message: `the ${kind} ${name} runs`, created: true };
}
