/** A check by an object that finds out by itself, such as a Job: it is made once for each question, over every crash, and then read. */
import { createHmac } from 'node:crypto';
import { z } from 'zod';
import type { CheckAnswer } from '../../core/model/rollout-check.ts';
import { defined } from '../../core/model/defined.ts';
import { isKubeError } from '../kube/kube-error.ts';
import { listPath, objectPath, readObject, type Resource } from '../kube/objects.ts';
import type { AskedAnswer, CheckRequest } from '../reconcile/checks/check-request.ts';
import type { CheckMeans } from './check-means.ts';

const prefix = 'operator.technomad.dev';
/** The annotation with which an owner allows what checks are made from, and its value. */
export const checkConsent = { name: `${prefix}/check`, value: 'allow' } as const;
const idAnnotation = `${prefix}/check-id`;

/** Schema of labels and annotations. */
export const texts = z.record(z.string(), z.string());
const made = z.looseObject({ metadata: z.object({ uid: z.string(), annotations: texts.exactOptional() }) });

/** How objects of a kind are made and read. */
export interface MadeKind {
  readonly resource: Resource & { readonly kind: string };
  /** The metadata and the spec of the object, or why there is none. */
  readonly make: () => Promise<MadeObject | string>;
  /** The answer that the created object gives; undefined if the object cannot be read. */
  readonly judge: (found: unknown, name: string) => CheckAnswer | undefined;
}

export interface MadeObject {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec: object;
}

/**
 * The name of the object of a check: the same for each question, and another one when the check is begun anew. The id is in the status, which others may read, so
 * the name follows from a secret as well: an object of this name that the status does not know yet can only be ours.
 */
export function madeNameOf({ check, record }: CheckRequest, secret: string): string {
  const unguessable = createHmac('sha256', secret).update(record.id).digest('hex');
  return `${check.name.slice(0, 40).replace(/-+$/, '')}-${unguessable.slice(0, 20)}`;
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
export async function askMade(kindOf: MadeKind, request: CheckRequest, { client, checkSecret }: CheckMeans): Promise<AskedAnswer> {
  const { policy, record, signal } = request;
  const { resource, make } = kindOf;
  const { kind } = resource;
  const name = record.job?.name ?? madeNameOf(request, await checkSecret());
  const found = await readObject<unknown>(client, objectPath(resource, policy.namespace, name), signal);
  if (found !== undefined) return readMade(found, name, kindOf, request);
  if (record.job !== undefined) return { kind: 'none', message: `the ${kind} ${name} is gone before it had a verdict` };
  const wanted = await make();
  if (typeof wanted === 'string') return { kind: 'none', message: wanted };
  const runs = { kind: 'none', message: `the ${kind} ${name} runs` } as const;
  const body = { apiVersion: resource.apiVersion, kind, metadata: metadataFor(name, wanted, request), spec: wanted.spec };
  try {
    const answer = await client.request<unknown>({ method: 'POST', path: listPath(resource, policy.namespace), body, signal });
    return { ...runs, job: { name, uid: made.parse(answer).metadata.uid } };
  } catch (error) {
    // Another replica was faster: the next question reads it.
    if (isKubeError(error, 409)) return runs;
    throw error;
  }
}

function readMade(found: unknown, name: string, { resource: { kind }, judge }: MadeKind, { record }: CheckRequest): AskedAnswer {
  const read = made.safeParse(found);
  if (!read.success) return { kind: 'none', message: `the ${kind} ${name} cannot be read` };
  const { uid, annotations = {} } = read.data.metadata;
  if (record.job !== undefined && uid !== record.job.uid)
    return { kind: 'none', message: `the ${kind} ${name} is not the one that was created for this check` };
  if (annotations[idAnnotation] !== record.id) return { kind: 'none', message: `the ${kind} ${name} was not made for this check` };
  const answer = judge(found, name) ?? { kind: 'none', message: `the ${kind} ${name} cannot be read` };
  return { ...answer, job: { name, uid } };
}

function metadataFor(name: string, { labels, annotations }: MadeObject, request: CheckRequest): object {
  const { policy } = request;
  return {
    name,
    namespace: policy.namespace,
    ...defined({ labels }),
    annotations: { ...annotations, ...annotationsOf(request) },
    ownerReferences: [{ apiVersion: 'operator.technomad.dev/v1', kind: 'ImagePolicy', name: policy.name, uid: policy.uid }],
  };
}
