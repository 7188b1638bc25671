import { accessKey } from '../model/image-source.ts';
import type { AuthenticatedHttp } from './authentication.ts';
import type { HttpAnswer } from './http.ts';

/** How much text is remembered; a list of a thousand tags is about 20 kB. */
const maxBytes = 16 * 1024 * 1024;

/** A time has whole seconds, and clocks differ: what was pushed right after it must not be missed for ever. */
const lastModifiedMarginMs = 60_000;

interface Remembered {
  readonly condition: Readonly<Record<string, string>>;
  readonly answer: HttpAnswer;
}

/**
 * Asks for what may have changed only, where a registry says by an ETag, or by a time long enough ago, what it gave: "304, not modified" becomes the answer that was given then.
 * Few registries do for tag lists; of the others nothing is remembered, and they are asked as before. For requests without a body.
 */
export function conditional(send: AuthenticatedHttp, limitBytes = maxBytes): AuthenticatedHttp {
  const answers = new Map<string, Remembered>();
  let bytes = 0;
  const forget = (key: string) => {
    bytes -= answers.get(key)?.answer.body.length ?? 0;
    answers.delete(key);
  };
  const remember = (key: string, answer: HttpAnswer) => {
    const condition = conditionOf(answer);
    if (condition === undefined || answer.body.length > limitBytes) return;
    answers.set(key, { condition, answer });
    bytes += answer.body.length;
    for (const oldest of answers.keys()) {
      if (bytes <= limitBytes) break;
      forget(oldest);
    }
  };
  return async (source, request) => {
    // What one may see is not for others.
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
