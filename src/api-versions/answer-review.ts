import { describeError } from '../model/errors.ts';
import { group } from './group.ts';
import type { ReviewAnswer, ReviewBounds } from './convert-review.ts';
import { measureJson } from './conversion/read-json.ts';

/** A ConversionReview, parsed, → what is answered. */
export type ConvertReview = (body: unknown, bounds: ReviewBounds) => Promise<ReviewAnswer>;

/** What is answered to a ConversionReview, and what is to be said about it. */
export interface DescribedAnswer extends ReviewAnswer {
  /** The version that was asked for, or `other`. */
  readonly to: string;
  /** How many there were to convert. */
  readonly objects: number;
}

const versions = ['v1', 'v1alpha1'];

/** One object as large as etcd stores it (1.5 MiB) has fewer values, whatever it is made of. */
const maxValues = 400_000;
/** Deeper ones overflow the stack of whoever writes them as JSON. A bound far below would refuse objects that are stored, and with one of them each list fails. */
const maxDepth = 3_500;
/** API servers send one (measured up to 1.36); the protocol allows lists. */
const maxObjects = 1_000;
/** In a review, `request.objects` is the third thing opened. */
const listDepth = 3;

/** Parses the bytes of a ConversionReview, if they are not too much, has it converted, and writes the answer; garbage is answered 400. */
export async function answerReview(bytes: Buffer, convertReview: ConvertReview, bounds: ReviewBounds): Promise<DescribedAnswer> {
  const tooLarge = refuseLarge(bytes);
  if (tooLarge !== undefined) return refuse(413, tooLarge);
  const review = parse(bytes);
  if (review instanceof Error) return refuse(400, `not JSON: ${describeError(review).slice(0, 200)}`);
  return { ...describeRequest(review), ...(await convertReview(review, bounds)) };
}

/** Why a review is not parsed, or undefined. */
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
