import { unexpectedAnswer } from './answer-errors.ts';
import { formatRepository, isTag } from '../../core/model/image-reference.ts';
import type { HttpAnswer, HttpRequest } from './http.ts';
import { manifestCall } from './manifests.ts';
import type { Session } from './session.ts';

/** The result of one request about a repository. */
export interface Probe {
  /** Whether the registry knows the repository or, with a tag, its tag. */
  readonly isKnown: boolean;
  /** The origin of the credentials that the registry accepted, worded for users; or `anonymous`. */
  readonly credentials: string;
  /** The time of the registry in ms since 1970, in whole seconds; undefined if it does not say. */
  readonly time: number | undefined;
}

/** The limit for the answer. Its content does not matter. */
const maxBytes = 1024 * 1024;

/** Requests the tag by HEAD, which no registry counts as a pull; without a tag, the beginning of the tag list. */
export async function probeRepository(session: Session, tag: string | undefined): Promise<Probe> {
  const request = tag !== undefined && isTag(tag) ? manifestCall('HEAD', session, tag) : listCall(session);
  const answer = await session.send(session.source, request);
  if (answer.status !== 200 && answer.status !== 404) throw unexpectedAnswer(request.what, answer, session.clock);
  return { isKnown: answer.status === 200, credentials: answer.credentials ?? 'anonymous', time: timeOf(answer) };
}

function listCall({ registry, source, signal }: Session): HttpRequest {
  const what = `listing tags of ${formatRepository(source)}`;
  const url = new URL(`/v2/${source.path}/tags/list?n=1`, registry.origin);
  return { registry, kind: 'tags', what, method: 'GET', url, headers: {}, maxBytes, maxRedirects: 3, signal };
}

/** The time at which the registry answered. A cache in between repeats an old Date, and adds its Age. */
function timeOf({ headers: { date = '', age = '0' } }: HttpAnswer): number | undefined {
  const time = Date.parse(date) + Number(age) * 1_000;
  return Number.isFinite(time) ? time : undefined;
}
