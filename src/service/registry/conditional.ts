import { accessKey } from '../../core/model/image-source.ts';
import type { AuthenticatedHttp } from './authentication.ts';
import type { HttpAnswer } from './http.ts';

/** The limit for the total size of the cached answers, with their addresses and headers. A list of a thousand tags has about 20 kB. */
const maxBytes = 16 * 1024 * 1024;

/** The minimum age of a usable Last-Modified. It has whole seconds, and clocks differ, so with a newer one, a push right after it could be missed for ever. */
const lastModifiedMarginMs = 60_000;

interface CachedAnswer {
  readonly condition: Readonly<Record<string, string>>;
  readonly answer: HttpAnswer;
  readonly bytes: number;
}

/**
 * Adds conditional requests to GETs: if the last answer had an ETag, or a Last-Modified that is old enough, it is cached, and returned again when the registry
 * answers 304. Few registries support this for tag lists, and answers without these headers are not cached.
 */
export function conditional(send: AuthenticatedHttp, limitBytes = maxBytes): AuthenticatedHttp {
  const answers = new Map<string, CachedAnswer>();
  let bytes = 0;
  const forget = (key: string) => {
    bytes -= answers.get(key)?.bytes ?? 0;
    answers.delete(key);
  };
  const remember = (key: string, answer: HttpAnswer) => {
    const condition = conditionOf(answer);
    // A registry may send many small answers with long headers, each for an address of its own.
    const size = key.length + JSON.stringify(answer.headers).length + answer.body.length;
    if (condition === undefined || size > limitBytes) return;
    answers.set(key, { condition, answer, bytes: size });
    bytes += size;
    for (const oldest of answers.keys()) {
      if (bytes <= limitBytes) break;
      forget(oldest);
    }
  };
  return async (source, request) => {
    // The key contains the access, because answers are shared only between policies with the same access.
    const key = `${accessKey(source)} ${request.url.href}`;
    const known = answers.get(key);
    const answer = await send(source, { ...request, headers: { ...request.headers, ...known?.condition } });
    forget(key);
    if (answer.status === 304 && known !== undefined) {
      remember(key, known.answer);
      return known.answer;
    }
    if (answer.status === 200) remember(key, answer);
    return answer;
  };
}

function conditionOf({ headers }: HttpAnswer): Readonly<Record<string, string>> | undefined {
  const { etag, 'last-modified': lastModified = '', date = '' } = headers;
  if (etag !== undefined) return { 'if-none-match': etag };
  return Date.parse(date) - Date.parse(lastModified) >= lastModifiedMarginMs ? { 'if-modified-since': lastModified } : undefined;
}
