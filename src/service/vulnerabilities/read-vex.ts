/** Reads documents of OpenVEX: https://github.com/openvex/spec/blob/main/OPENVEX-SPEC.md */
import { z } from 'zod';
import { readTime } from '../../core/model/text.ts';
import type { VexStatement } from '../../core/model/vulnerabilities.ts';
import { checkShape } from '../verify/simple-bundle.ts';
import { idPattern } from './collect-advisories.ts';

const time = z.string().optional();
const names = z.record(z.string(), z.unknown()).optional();
const product = z.union([z.string(), z.object({ '@id': z.string().optional(), identifiers: names, hashes: names })]);
const id = z.string().regex(idPattern);
const vulnerability = z.union([
  z.object({ name: id, aliases: z.array(id).max(64).nullish() }),
  // As version 0.0.1 wrote it.
  id.transform((name) => ({ name, aliases: [] })),
]);
const documentSchema = z.object({
  timestamp: time,
  last_updated: time,
  statements: z.array(
    z.object({
      vulnerability,
      status: z.enum(['not_affected', 'affected', 'fixed', 'under_investigation']),
      timestamp: time,
      last_updated: time,
      products: z.array(product).nullish(),
    }),
  ),
});
type Product = z.output<typeof product>;

/**
 * Reads the statements of a document about an image. A statement whose products name digests is only about these, and otherwise about the subject of the
 * attestation. Throws an Error if one of them cannot be read: without it, the others could mean something else.
 */
export function readVex(predicate: unknown, digest: string, by: string): readonly VexStatement[] {
  const { statements, ...document } = checkShape(documentSchema, predicate, 'its document');
  const read = statements.flatMap(({ vulnerability: { name, aliases }, status, products, ...statement }) => {
    const at = statement.last_updated ?? statement.timestamp ?? document.last_updated ?? document.timestamp;
    const statedMs = readTime(at ?? '')?.getTime();
    if (statedMs === undefined) throw new Error(`it does not say when its statement about ${name} was made`);
    const digests = (products ?? []).flatMap(digestsOf);
    if (digests.length > 0 && !digests.includes(digest)) return [];
    return [{ ids: [...new Set([name, ...(aliases ?? [])])], status, statedMs, by }];
  });
  if (read.length === 0) throw new Error('it has no statement about this image');
  return read;
}

/** The digests that a product names: `pkg:oci/web@sha256%3A…`, and hashes. */
function digestsOf(product: Product): readonly string[] {
  if (typeof product === 'string') return digestsIn(product);
  const { '@id': name = '', identifiers = {}, hashes = {} } = product;
  const texts = [name, ...Object.values(identifiers)].filter((text) => typeof text === 'string');
  const hashed = Object.entries(hashes).map(
    ([algorithm, hex]) => `${algorithm.toLowerCase().replace('-', '')}:${String(hex).toLowerCase()}`,
  );
  return [...texts.flatMap(digestsIn), ...hashed];
}

function digestsIn(text: string): readonly string[] {
  return Array.from(text.matchAll(/(sha256|sha512)(?::|%3a)([0-9a-f]{64,128})/gi), ([, algorithm = '', hex = '']) =>
    `${algorithm}:${hex}`.toLowerCase(),
  );
}
