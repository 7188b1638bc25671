import { describeError } from '../core/model/errors.ts';
import { measureJson } from '../core/model/bounded-json.ts';
import type { ReviewAnswer, ReviewBounds } from './convert-review.ts';
import { group } from '../service/resources/group.ts';

/** The type of `convertReview`: answers a parsed ConversionReview. */
export type ConvertReview = (body: unknown, bounds: ReviewBounds) => Promise<ReviewAnswer>;

/** The answer to a ConversionReview, with values for metrics and logs. */
export interface DescribedAnswer extends ReviewAnswer {
  /** The requested version, or `other` for an unknown one. */
  readonly to: string;
  /** The number of objects to convert. */
  readonly objects: number;
}

const versions = ['v1', 'v1alpha1'];

/** The maximum number of values in a review. One object as large as etcd stores it (1.5 MiB) has fewer, whatever its content. */
const maxValues = 400_000;
/** The maximum depth of a review: deeper JSON overflows the stack when it is written. A much lower limit would refuse stored objects, and so whole lists. */
const maxDepth = 3_500;
/** The maximum number of objects. API servers send one (measured up to 1.36); the protocol allows lists. */
const maxObjects = 1_000;
/** The depth of `request.objects` in a review. */
const listDepth = 3;

/** Parses the bytes of a ConversionReview and converts it. Answers 400 if it is not JSON, and refuses one that is too large. */
export async function answerReview(bytes: Buffer, convertReview: ConvertReview, bounds: ReviewBounds): Promise<DescribedAnswer> {
  const tooLarge = refuseLarge(bytes);
  if (tooLarge !== undefined) return refuse(413, tooLarge);
  const review = parse(bytes);
  if (review instanceof Error) return refuse(400, `not JSON: ${describeError(review).slice(0, 200)}`);
  return { ...describeRequest(review), ...(await convertReview(review, bounds)) };
}

/** Why a review is too large to be parsed; undefined if it is not. */
function refuseLarge(bytes: Buffer): string | undefined {
  const { values, depth, listed } = measureJson(bytes, listDepth);
  if (listed > maxObjects) return `the review has more than ${maxObjects} objects`;
  if (values > maxValues) return `the review has more than ${maxValues} values`;
  return depth > maxDepth ? `the review is nested deeper than ${maxDepth}` : undefined;
}

function refuse(status: number, problem: string): DescribedAnswer {
  return { status, text: JSON.stringify({ error: problem }), to: 'other', objects: 0, problem };
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function describeRequest(review: unknown): { to: string; objects: number } {
  const request = fieldOf(review, 'request');
  const objects = fieldOf(request, 'objects');
  const wanted = fieldOf(request, 'desiredAPIVersion');
  return {
    to: versions.find((version) => wanted === `${group}/${version}`) ?? 'other',
    objects: Array.isArray(objects) ? objects.length : 0,
  };
}

function fieldOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}
