import { plainTextOf } from '../../test/service/receive/providers/mutations.ts';
import type { PushEvent } from '../../src/core/model/push-event.ts';
import type { FuzzRequest } from './random-request.ts';

/** What is wrong with how a request was answered; undefined when nothing is. */
export function judge(request: FuzzRequest, status: number, stored: readonly PushEvent[]): string | undefined {
  if (status === 413 && request.kind === 'blown up' && stored.length === 0) return undefined;
  if (![200, 202].includes(status)) return `answered ${status}`;
  if ((status === 202) !== stored.length > 0) return `answered ${status} with ${stored.length} pushes stored`;
  if (stored.length === 0) return undefined;
  const text = everythingSaid(request);
  for (const { repository, tag } of stored) {
    // Docker Hub's own images are written without "library".
    const parts = [...repository.path.split('/').filter((part) => part !== 'library'), tag.toLowerCase()];
    const invented = parts.find((part) => !text.includes(part));
    if (invented !== undefined) return `"${invented}" of ${repository.path}:${tag} is not named in the request`;
  }
  return undefined;
}

/** The request without its encodings, in lower case. */
function everythingSaid({ headers, body }: FuzzRequest): string {
  const text = body.toString('utf8');
  const form = new URLSearchParams(text).get('payload');
  const plain = [text, plainTextOf(body), ...(form === null ? [] : [plainTextOf(Buffer.from(form))]), ...Object.values(headers)].join('\n');
  return `${plain}\n${decodePercent(plain)}`.toLowerCase();
}

function decodePercent(text: string): string {
  return text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (encoded) => Buffer.from(encoded.replaceAll('%', ''), 'hex').toString('utf8'));
}
