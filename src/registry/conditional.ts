import { accessKey } from '../core/image-source.ts';
import type { AuthenticatedHttp } from './authentication.ts';
import type { HttpAnswer } from './http.ts';

/** How much text is remembered; a list of a thousand tags is about 20 kB. */
const maxBytes = 16 * 1024 * 1024;

interface Remembered {
  readonly etag: string;
  readonly answer: HttpAnswer;
}

/**
 * Asks for what may have changed only, where a registry says by an ETag what it gave: "304, not modified" becomes the answer that was given then.
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
    const { etag } = answer.headers;
    if (etag === undefined || answer.body.length > limitBytes) return;
    answers.set(key, { etag, answer });
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
    const headers = known === undefined ? request.headers : { ...request.headers, 'if-none-match': known.etag };
    const answer = await send(source, { ...request, headers });
    if (answer.status === 304 && known !== undefined) return known.answer;
    forget(key);
    if (answer.status === 200) remember(key, answer);
    return answer;
  };
}
