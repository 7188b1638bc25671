import { unexpectedAnswer } from './answer-errors.ts';
import { formatRepository, isTag } from '../../core/model/image-reference.ts';
import type { HttpAnswer, HttpRequest } from './http.ts';
import { manifestCall } from './manifests.ts';
import type { Session } from './session.ts';

/** What became of one request about a repository. */
export interface Probe {
  /** Whether the registry knows the repository or, with a tag, its tag. */
  readonly isKnown: boolean;
  /** Where the credentials that it accepted come from, in words for a user; or `anonymous`. */
  readonly credentials: string;
  /** The time of the registry in ms since 1970, in whole seconds; undefined if it does not say. */
  readonly time: number | undefined;
}

/** Only whether there is an answer matters. */
const maxBytes = 1024 * 1024;

/** Asks for the tag by HEAD, which no registry counts as a pull; without a tag for the beginning of the list. */
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

/** A cache in between repeats an old Date, with its Age. */
function timeOf({ headers: { date = '', age = '0' } }: HttpAnswer): number | undefined {
  const time = Date.parse(date) + Number(age) * 1_000;
  return Number.isFinite(time) ? time : undefined;
}
