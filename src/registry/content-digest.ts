import { createHash } from 'node:crypto';
import { isDigest } from '../model/image-reference.ts';
import type { HttpAnswer } from './http.ts';

/** What the Docker-Content-Digest header says; undefined when it is missing or no digest. */
export function claimedDigest({ headers }: HttpAnswer): string | undefined {
  const digest = headers['docker-content-digest'];
  return typeof digest === 'string' && isDigest(digest) ? digest : undefined;
}

/** The digest of bytes, by the algorithm of another digest; sha256 without one. */
export function digestLike(other: string | undefined, bytes: Buffer): string {
  const algorithm = other?.startsWith('sha512:') ? 'sha512' : 'sha256';
  return `${algorithm}:${createHash(algorithm).update(bytes).digest('hex')}`;
}

/** Throws an Error when the bytes are not those that the digest names. */
export function checkDigest(what: string, digest: string, bytes: Buffer): void {
  const actual = digestLike(digest, bytes);
  if (actual !== digest) throw new Error(`${what}: the registry says ${digest}, but the bytes are ${actual}`);
}
