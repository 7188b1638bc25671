/** Blobs of the OCI distribution specification: https://github.com/opencontainers/distribution-spec/blob/main/spec.md#pulling-blobs */
import { formatRepository, isDigest } from '../model/image-reference.ts';
import { unexpectedAnswer } from './answer-errors.ts';
import { checkDigest } from './content-digest.ts';
import type { HttpRequest } from './http.ts';
import type { Session } from './session.ts';

/** The bytes of a blob, which are those that the digest names; undefined for 404. Registries redirect to their storage, where no credential follows. */
export async function readBlob(session: Session, digest: string, maxBytes: number): Promise<Buffer | undefined> {
  if (!isDigest(digest)) return undefined;
  const { registry, source, signal } = session;
  const what = `GET blob ${formatRepository(source)}@${digest}`;
  const url = new URL(`/v2/${source.path}/blobs/${digest}`, registry.origin);
  const call: HttpRequest = { registry, kind: 'blob', what, method: 'GET', url, headers: {}, maxBytes, maxRedirects: 3, signal };
  const answer = await session.send(source, call);
  if (answer.status === 404) return undefined;
  if (answer.status !== 200) throw unexpectedAnswer(what, answer, session.clock);
  checkDigest(what, digest, answer.body);
  return answer.body;
}
