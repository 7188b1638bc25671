/** ConversionReview (apiextensions.k8s.io/v1): the request of the API server to a conversion webhook, and the response. */
import { isObject } from '../core/model/untyped.ts';
import { assertKnownVersion, convertObject } from './convert.ts';
import { toStructuralSchema } from '../service/resources/structural-schema.ts';
import * as v1 from '../service/resources/v1.ts';

const reviewVersion = 'apiextensions.k8s.io/v1';
const reviewKind = 'ConversionReview';

/** The HTTP status and the body of an answer. */
export interface ReviewAnswer {
  readonly status: number;
  /** The body as JSON. */
  readonly text: string;
  /** Why nothing was converted; absent on success. */
  readonly problem?: string;
}

/** The limits for the cost of a review. */
export interface ReviewBounds {
  /** The maximum length of the converted objects together. It is limited because an object may contain a compressed one. */
  readonly maxAnswerLength?: number;
  /** Awaited between two objects. An error that it throws ends the conversion. */
  readonly pause?: () => Promise<void>;
}

/**
 * Answers a ConversionReview with every object in the order of the request, whatever their content. A body that is not a review is answered with 400. A review
 * that cannot be converted is answered with 200 and the result Failure, as the API server expects.
 */
export async function convertReview(body: unknown, bounds: ReviewBounds = {}): Promise<ReviewAnswer> {
  if (!isObject(body) || body['apiVersion'] !== reviewVersion || body['kind'] !== reviewKind)
    return refuse(`the body is not a ${reviewKind} of ${reviewVersion}`);
  const { request } = body;
  if (!isObject(request) || typeof request['uid'] !== 'string' || request['uid'] === '') return refuse('the review has no request.uid');
  const { uid, desiredAPIVersion: desired, objects } = request;
  if (typeof desired !== 'string') return fail(uid, 'the review has no request.desiredAPIVersion');
  if (!Array.isArray(objects)) return fail(uid, 'the review has no list request.objects');
  try {
    assertKnownVersion(desired);
    return { status: 200, text: answer(uid, await convertAll(objects, desired, bounds), { status: 'Success' }) };
  } catch (error) {
    return fail(uid, error instanceof Error ? error.message : String(error));
  }
}

/** Converts the objects one by one, and writes each as JSON immediately, which frees its memory. */
async function convertAll(objects: readonly unknown[], desired: string, bounds: ReviewBounds): Promise<readonly string[]> {
  const { maxAnswerLength = Infinity, pause } = bounds;
  const converted: string[] = [];
  let length = 0;
  for (const object of objects) {
    if (converted.length > 0) await pause?.();
    const text = JSON.stringify(fillDefaults(convertObject(object, desired)));
    length += text.length;
    if (length > maxAnswerLength) throw new Error(`the converted objects are longer than ${maxAnswerLength} characters`);
    converted.push(text);
  }
  return converted;
}

function answer(uid: string, convertedObjects: readonly string[], result: object): string {
  const head = `{"apiVersion":"${reviewVersion}","kind":"${reviewKind}","response":{"uid":${JSON.stringify(uid)}`;
  return `${head},"convertedObjects":[${convertedObjects.join()}],"result":${JSON.stringify(result)}}}`;
}

function fail(uid: string, message: string): ReviewAnswer {
  const problem = message.slice(0, 500);
  return { status: 200, text: answer(uid, [], { status: 'Failure', message: problem }), problem };
}

function refuse(problem: string): ReviewAnswer {
  return { status: 400, text: JSON.stringify({ error: problem }), problem };
}

/**
 * Adds the defaults of the schema to a v1 object. The API server adds them when v1 is written, but not after a conversion. Without them, the first write of any
 * kind would change the spec, increment the generation and make its writer the owner of the defaults. Anything else is returned unchanged.
 */
export function fillDefaults(object: unknown): unknown {
  return isObject(object) && object['apiVersion'] === v1.apiVersion ? fill(object, (structure ??= toStructuralSchema(v1.schema))) : object;
}

/** Made for the first conversion: most starts see none. */
let structure: ReturnType<typeof toStructuralSchema> | undefined;

function fill(value: unknown, schema: unknown): unknown {
  if (!isObject(schema)) return value;
  if (Array.isArray(value)) return value.map((item) => fill(item, schema['items']));
  const properties = schema['properties'];
  if (!isObject(value) || !isObject(properties)) return value;
  const filled: Record<string, unknown> = { ...value };
  for (const [name, inner] of Object.entries(properties)) {
    if (!Object.hasOwn(filled, name)) {
      if (!isObject(inner) || inner['default'] === undefined) continue;
      filled[name] = structuredClone(inner['default']);
    }
    filled[name] = fill(filled[name], inner);
  }
  return filled;
}
