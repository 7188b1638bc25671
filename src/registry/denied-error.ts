import { formatRepository } from '../model/image-reference.ts';
import type { ImageSource } from '../model/image-source.ts';
import { describeBody } from './answer-errors.ts';
import type { Try } from './authentication.ts';
import type { HttpRequest } from './http.ts';

/** More would say nothing new, and the message has to fit into a condition. */
const maxListed = 12;

/** Whose credentials may be told: a policy's author learns of those that the policy names, the operator of all. */
type Reader = 'author' | 'operator';

/** That nothing that may be tried was accepted: lists everything, and what came of it, as far as the reader may know. */
export function describeDenial(source: ImageSource, { registry, what }: HttpRequest, tries: readonly Try[], reader: Reader): string {
  const name = formatRepository(source);
  const listed = tries.slice(0, maxListed).map((tried) => `${tried.source}${describeTry(tried, reader)}`);
  const more = tries.length > maxListed ? [`and ${tries.length - maxListed} more`] : [];
  const hadCredential = tries.some((tried) => tried.kind === 'refused' && tried.credential !== undefined);
  const remedy = hadCredential
    ? `check that the credentials are right and may pull ${name}`
    : `if ${name} exists, provide credentials that may pull it, for example in the policy's pullSecrets`;
  return `${what}: ${registry.name} gives no access: ${[...listed, ...more].join('; ')}. To do: ${remedy}`;
}

/** The error when it cannot be said whether there is a credential that would be accepted. */
export function unreadableError(what: string, { source, isOwn, error }: Extract<Try, { kind: 'failed' }>): Error {
  return new Error(`${what}: cannot read the credentials of ${source}`, isOwn ? { cause: error } : {});
}

function describeTry(tried: Try, reader: Reader): string {
  const isTold = tried.isOwn || reader === 'operator';
  switch (tried.kind) {
    case 'none':
      return isTold ? ` ${tried.why}` : ' has none for it';
    case 'failed':
      return ' cannot be read';
    case 'accepted':
      return ' is accepted';
    case 'refused': {
      const { answer, credential } = tried;
      const user = isTold ? ` (user ${credential?.username})` : '';
      const whom = credential ? user : ' access';
      return `${whom} was refused ${answer ? `with ${answer.status}${describeBody(answer.body)}` : 'by the token server'}`;
    }
  }
}
