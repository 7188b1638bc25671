/** ConversionReview (apiextensions.k8s.io/v1): what the API server posts to a conversion webhook, and the answer. */
import { assertKnownVersion, convertObject } from './convert.ts';
import { fillDefaults } from './conversion/fill-defaults.ts';
import { isObject } from './conversion/read-json.ts';

const reviewVersion = 'apiextensions.k8s.io/v1';
const reviewKind = 'ConversionReview';

/** The HTTP status and JSON body of an answer. */
export interface ReviewAnswer {
  readonly status: number;
  readonly body: unknown;
}

/**
 * Answers a ConversionReview: every object in the order of the request, whatever is in it. What is no review at all is 400; a review
 * that cannot be carried out is 200 with the result Failure, as the API server wants it.
 */
export function convertReview(body: unknown): ReviewAnswer {
  if (!isObject(body) || body['apiVersion'] !== reviewVersion || body['kind'] !== reviewKind)
    return refuse(`the body is no ${reviewKind} of ${reviewVersion}`);
  const { request } = body;
  if (!isObject(request) || typeof request['uid'] !== 'string' || request['uid'] === '') return refuse('the review has no request.uid');
  const { uid, desiredAPIVersion: desired, objects } = request;
  if (typeof desired !== 'string') return fail(uid, 'the review has no request.desiredAPIVersion');
  if (!Array.isArray(objects)) return fail(uid, 'the review has no list request.objects');
  try {
    assertKnownVersion(desired);
    const convertedObjects = objects.map((object) => fillDefaults(convertObject(object, desired)));
    return answer({ uid, convertedObjects, result: { status: 'Success' } });
  } catch (error) {
    return fail(uid, error instanceof Error ? error.message : String(error));
  }
}

function answer(response: unknown): ReviewAnswer {
  return { status: 200, body: { apiVersion: reviewVersion, kind: reviewKind, response } };
}

function fail(uid: string, message: string): ReviewAnswer {
  return answer({ uid, convertedObjects: [], result: { status: 'Failure', message } });
}

function refuse(message: string): ReviewAnswer {
  return { status: 400, body: { error: message } };
}
