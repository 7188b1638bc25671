import { describeError } from '../core/errors.ts';
import { group } from './group.ts';

/** A ConversionReview, parsed, → what is answered. Pure. */
export type ConvertReview = (body: unknown) => { readonly status: number; readonly body: unknown };

/** What is answered to a ConversionReview, and what is to be said about it. */
export interface ReviewAnswer {
  readonly status: number;
  readonly text: string;
  /** The version that was asked for, or `other`. */
  readonly to: string;
  /** How many there were to convert. */
  readonly objects: number;
  /** Why nothing was converted. */
  readonly problem: string | undefined;
}

const versions = ['v1', 'v1alpha1'];

/** Parses the bytes of a ConversionReview, has it converted, and writes the answer; garbage is answered 400. */
export function answerReview(bytes: Buffer, convertReview: ConvertReview): ReviewAnswer {
  const review = parse(bytes);
  if (review instanceof Error) {
    const problem = `not JSON: ${describeError(review).slice(0, 200)}`;
    return { status: 400, text: JSON.stringify({ error: problem }), to: 'other', objects: 0, problem };
  }
  const { status, body } = convertReview(review);
  return { status, text: JSON.stringify(body), ...describeRequest(review), problem: problemOf(status, body) };
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

function problemOf(status: number, body: unknown): string | undefined {
  const result = fieldOf(fieldOf(body, 'response'), 'result');
  if (status < 400 && fieldOf(result, 'status') === 'Success') return undefined;
  const message = fieldOf(result, 'message') ?? fieldOf(body, 'error') ?? fieldOf(body, 'message');
  return typeof message === 'string' ? message.slice(0, 500) : `answered ${status}`;
}

function fieldOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}
